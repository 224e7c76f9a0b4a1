"""The requests and responses of our own routes, from which the OpenAPI document is derived."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

LARGEST = 3.4028234663852886e38  # of a 32-bit float
Positive: TypeAlias = Annotated[float, Meta(ge=1, multiple_of=1)]  # an integer; to JSON 3.0 is one too
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=1000)]

Documents: TypeAlias = Annotated[
    Raw,  # see request_bodies.documents_in
    Meta(
        extra_json_schema={"type": "array"},
        description="One list of numbers per document, in the order of the model's features or of feature_names; "
        "or one object per document with the features by name. null is a missing value, true is 1, false is 0.",
    ),
]
FeatureNames: TypeAlias = Annotated[
    list[Name] | None,
    Meta(description="Names of the numbers in the lists, if these are not in the order of the model."),
]
Ids: TypeAlias = Annotated[
    list[str | int] | None, Meta(description="Ids of the documents, one each, which the answer then has too.")
]
ModelName: TypeAlias = Annotated[Name | None, Meta(description="Name of a model; by default the first one.")]
Version: TypeAlias = Annotated[Name | None, Meta(description="Its version; by default the last one.")]


class ScoreRequest(Struct, forbid_unknown_fields=True):
    """Documents of one query to score."""

    features: Documents
    ids: Ids = None
    feature_names: FeatureNames = None
    model: ModelName = None
    version: Version = None


class RankRequest(Struct, forbid_unknown_fields=True):
    """Documents of one query to rank."""

    features: Documents
    ids: Ids = None
    feature_names: FeatureNames = None
    model: ModelName = None
    version: Version = None
    top: Annotated[Positive | None, Meta(description="Return only so many documents, the best ones.")] = None
    interleave: Annotated[
        bool | None, Meta(description="false for the model's own ranking where two models are interleaved.")
    ] = None


class ExplainRequest(Struct, forbid_unknown_fields=True):
    """Documents of one query whose scores are to be explained."""

    features: Documents
    ids: Ids = None
    feature_names: FeatureNames = None
    model: ModelName = None
    version: Version = None
    top: Annotated[
        Positive | None,
        Meta(description="Number of features per document, those that matter most; 10 by default."),
    ] = None


class FromModel(Struct):
    """Which model answered."""

    model: str
    version: str
    revision: Annotated[str, Meta(description="Beginning of the SHA-256 of the model's file.")]


class ScoreResponse(FromModel, omit_defaults=True):
    """One score per document, in the order of the request."""

    scores: list[float]
    ids: Annotated[list[str | int] | UnsetType, Meta(description="As sent.")] = UNSET


class Ranked(Struct, omit_defaults=True):
    """A document at its rank."""

    rank: int
    row: Annotated[int, Meta(description="Position of the document in the request, from 0.")]
    id: str | int | UnsetType = UNSET
    score: Annotated[
        float | UnsetType, Meta(description="Absent if two models are interleaved: their scores do not compare.")
    ] = UNSET


class RankResponse(FromModel, omit_defaults=True):
    """The documents, best first; equal scores in the order of the request."""

    ranking: list[Ranked]
    impression: Annotated[
        str | UnsetType, Meta(description="Present if two models are interleaved: send it to /clicks.")
    ] = UNSET


class Contribution(Struct):
    """What a feature adds to a score."""

    feature: str
    value: Annotated[float | str | None, Meta(description="null if missing; infinite values as text.")]
    contribution: float


class Explanation(Struct, omit_defaults=True):
    """A score as the sum of a base score and the contributions of all features."""

    row: int
    score: float
    base: float
    contributions: Annotated[list[Contribution], Meta(description="The largest ones, by absolute value.")]
    rest: Annotated[float, Meta(description="Sum of the contributions of all other features.")]
    id: str | int | UnsetType = UNSET


class ExplainResponse(FromModel):
    """One explanation per document, in the order of the request."""

    explanations: list[Explanation]


class ClickRequest(Struct, forbid_unknown_fields=True):
    """Clicks on an interleaved list. Report all of an impression at once: only its first report is counted."""

    impression: Annotated[str, Meta(min_length=1, max_length=1_000_000, description="As /rank returned it.")]
    ranks: Annotated[
        list[Positive], Meta(description="Ranks of the clicked documents, from 1; empty if none was.")
    ]
    session: Annotated[Name | None, Meta(description="Session, for the log: to test by session.")] = None
    user: Annotated[Name | None, Meta(description="User, for the log: to test by user.")] = None


class ClickResponse(Struct):
    """The clicks that each model got."""

    clicks: dict[str, int]
    winner: Annotated[str | None, Meta(description="The model with more clicks; null for a tie.")]
    counted: Annotated[bool, Meta(description="false if the impression had been reported before.")]


class Credits(Struct):
    """Two models that are interleaved, and what the clicks say."""

    first: str
    second: str
    impressions: int
    reported: int
    wins_first: Annotated[int, Meta(description="Impressions in which the first model got more clicks.")]
    wins_second: int
    ties: Annotated[int, Meta(description="Impressions with the same number of clicks for both, or without any.")]
    clicks_first: int
    clicks_second: int
    p_value: Annotated[float, Meta(description="Two-sided sign test of the wins; ties are left out.")]


class CreditsResponse(Struct):
    """All pairs of models that are interleaved."""

    pairs: list[Credits]


class AfterAddress(Struct):
    """The parameters of query strings; each route has some of them."""

    model: Name | UnsetType = UNSET
    version: Name | UnsetType = UNSET
    top: Positive | UnsetType = UNSET
    interleave: bool | UnsetType = UNSET
    q: str | UnsetType = UNSET
    n: Positive | UnsetType = UNSET
    snippets: bool | UnsetType = UNSET


class SearchRequest(Struct, forbid_unknown_fields=True):
    """A query in words."""

    query: Annotated[str, Meta(min_length=1, max_length=10_000)]
    n: Annotated[float, Meta(ge=1, le=1000, multiple_of=1, description="Number of results.")] = 10
    snippets: Annotated[bool, Meta(description="Whether to return the part of each text that fits best.")] = False
    model: ModelName = None
    version: Version = None


class Found(Struct, omit_defaults=True):
    """A document that was found; `marks` are the positions of the query's words in the snippet."""

    rank: int
    id: str
    score: float
    field: str | UnsetType = UNSET
    snippet: str | UnsetType = UNSET
    marks: list[tuple[int, int]] | UnsetType = UNSET


class SearchResponse(Struct):
    """The documents found, best first."""

    results: list[Found]


class ModelFacts(Struct):
    """A model in service."""

    name: str
    version: str
    revision: Annotated[str, Meta(description="Beginning of the SHA-256 of the model's file.")]
    kind: str
    n_features: int
    feature_names: list[str] | None
    n_trees: int
    loaded: Annotated[str, Meta(description="When it was loaded.")]
    needs_queries: Annotated[
        bool, Meta(description="Whether a score depends on the other documents of the request.")
    ]
    problem: Annotated[str | None, Meta(description="Why the newest file of this model is not in service.")]


class ModelsResponse(Struct):
    """All models; the first answers requests that name none."""

    models: list[ModelFacts]


class Health(Struct):
    """Whether the service is alive, or ready for requests."""

    status: str


class Error(Struct):
    """Why a request was refused, in one sentence."""

    error: str
    request_id: str
