"""Simulates users: judged documents and rankers become a log of clicks whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.clicks.behaviours import UserBehaviour, named_behaviour
from rankwright.clicks.log import ClickLog, Coded, coded
from rankwright.data.groups import Ranking
from rankwright.evaluation.evaluate import checked_judged, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.dataset import Documents, RankingData

LOGGING = "logging"
SHUFFLED = "shuffled"  # the policy of lists in random order
MAX_IMPRESSIONS = 2**31 - 1


def simulate(
    data: Any,
    ranker: Any,
    behaviour: str | UserBehaviour = "position",
    *,
    sessions: float = 20.0,
    power: float = 0.0,
    depth: int | None = None,
    eta: float | None = None,
    noise: float = 0.1,
    trust: float | None = None,
    shuffled: float = 0.0,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> ClickLog:
    """Let users search with a ranker, and return what they were shown and clicked.

    A document attracts with probability noise + (1 - noise) (2^label - 1) / (2^highest label - 1). Each session
    is one query and one result list. The draws of a query depend on the seed and its number only.

    Parameters
    ----------
    data
        Judged documents; their labels are the truth.
    ranker
        What ordered the documents: a ranker, a model, scores, or a column, ascending, or descending with `-`
        before its name. Of several in a mapping, the policies of the log, every session uses one at random.
    behaviour
        How users examine and click: `position`, `cascade`, `browsing`, `dependent`, `trust`, `none`, or a value
        such as `PositionBias(eta=0.5)`.
    sessions
        Mean number of sessions per query.
    power
        Exponent of the power law of sessions per query; 0 gives all the same. Which ones are popular is random.
    depth
        Number of documents that are shown; by default all of the query.
    eta, trust
        Options of the behaviour; by default its own.
    noise
        Probability that a document with label 0 attracts.
    shuffled
        Fraction of the sessions that show the documents in random order, as an experiment would.
    random_state
        The same seed gives the same log.
    n_jobs
        Number of threads for scoring.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(20, n_documents=8)
    >>> rw.clicks.simulate(data, data.X[:, 0], sessions=5)
    ClickLog(800 impressions, 100 lists, 20 queries, 8 documents, 59 clicks)
    """
    judged = checked_judged(data)
    _check(sessions=sessions, power=power, depth=depth, noise=noise, shuffled=shuffled)
    if isinstance(behaviour, str):
        behaviour = named_behaviour(behaviour, eta=eta, trust=trust)
    elif eta is not None or trust is not None:
        raise InputError(f"{parameter('eta')} and {parameter('trust')} are for behaviours given by name.")
    systems = ranker if isinstance(ranker, Mapping) else {LOGGING: ranker}
    orders = [ranking_by(name, system, judged, n_jobs).order for name, system in systems.items()]
    lists = sessions_per_query(len(judged.groups), sessions, power, random_state)
    shown = np.minimum(judged.groups.sizes, depth or len(judged))
    drawn = _draw(judged, orders, lists, shown, behaviour, noise, shuffled, random_state)
    policies = np.array([*systems, SHUFFLED] if shuffled else [*systems], dtype=object)
    return _log(judged, drawn, policies, np.repeat(shown, lists))


class _Drawn(NamedTuple):
    """One value per impression: the row of the document, whether it is clicked, and the policy."""

    rows: Integers
    clicked: NDArray[np.bool_]
    policy: NDArray[np.int32]


def _draw(
    data: RankingData,
    orders: Sequence[Integers],
    lists: Integers,
    shown: Integers,
    behaviour: UserBehaviour,
    noise: float,
    shuffled: float,
    random_state: int,
) -> _Drawn:
    """Draw the lists and the clicks of every query."""
    total = int((lists * shown).sum())
    if total > MAX_IMPRESSIONS:
        raise InputError(f"That would be {total:,} impressions; at most {MAX_IMPRESSIONS:,} can be simulated.")
    drawn = _Drawn(np.empty(total, np.int64), np.empty(total, bool), np.empty(total, np.int32))
    attraction, begin = _attraction(data.y, noise), 0
    for query in np.flatnonzero(lists).tolist():
        random = np.random.default_rng((random_state, query))
        rows = slice(data.groups.offsets[query], data.groups.offsets[query + 1])
        policy, ranked = _ranked_lists(np.stack([order[rows] for order in orders]), lists[query], shuffled, random)
        documents = ranked[:, : shown[query]]
        part = slice(begin, begin := begin + documents.size)
        drawn.rows[part] = documents.ravel()
        drawn.clicked[part] = behaviour.draw(attraction[documents], random).ravel()
        drawn.policy[part] = np.repeat(policy, shown[query])
    return drawn


def _ranked_lists(
    rankings: Integers, n_lists: int, shuffled: float, random: np.random.Generator
) -> tuple[Integers, Integers]:
    """Draw the policy of each list of a query, and return it with the documents from the top."""
    policy = random.integers(len(rankings), size=n_lists)
    documents = rankings[policy]
    if shuffled:
        at_random = random.random(n_lists) < shuffled
        policy[at_random] = len(rankings)
        documents[at_random] = random.permuted(documents[at_random], axis=1)
    return policy, documents


def sessions_per_query(n_queries: int, mean: float, power: float, random_state: int) -> Integers:
    """Return the number of sessions of each query, with the given mean, by a power law of its popularity."""
    popularity = np.random.default_rng((random_state, n_queries, 1)).permutation(n_queries) + 1.0
    shares = popularity**-power
    ends = np.cumsum(shares / shares.sum()) * round(mean * n_queries)
    return np.asarray(np.diff(np.rint(ends).astype(np.int64), prepend=0))


def _check(*, sessions: float, power: float, depth: int | None, noise: float, shuffled: float) -> None:
    if not 0.0 < sessions <= MAX_IMPRESSIONS:
        raise InputError(f"{parameter('sessions')} must be a positive number, not {sessions}.")
    if not 0.0 <= power <= 10.0:
        raise InputError(f"{parameter('power')} must lie between 0 and 10, not {power}.")
    if depth is not None and depth < 1:
        raise InputError(f"{parameter('depth')} must be a positive integer, not {depth}.")
    for name, fraction in (("noise", noise), ("shuffled", shuffled)):
        if not 0.0 <= fraction <= 1.0:
            raise InputError(f"{parameter(name)} must lie between 0 and 1, not {fraction}.")


def ranking_by(name: str, system: Any, data: Documents, n_jobs: int | None) -> Ranking:
    """Rank documents by a ranker, a model, scores, or a column, named `name` in messages."""
    scores = _scores_by(system, data) if isinstance(system, str) else scores_of(name, system, data, n_jobs)
    return Ranking.of(scores, data.groups, n_jobs=n_jobs)


def _scores_by(column: str, data: Documents) -> Doubles:
    """Return scores by a column; where features have no names, the name of a feature is its number, from 1."""
    if data.feature_names is not None or not column.removeprefix("-").isdigit():
        return data.scores_by(column)
    names = tuple(map(str, range(1, data.n_features + 1)))
    return data.with_features(data.X, names, ()).scores_by(column)


def _attraction(labels: Doubles, noise: float) -> Doubles:
    gains = np.exp2(np.maximum(labels, 0.0)) - 1.0
    return np.asarray(noise + (1.0 - noise) * gains / max(gains.max(initial=0.0), np.finfo(np.float64).tiny))


def _log(data: RankingData, drawn: _Drawn, policies: NDArray[np.object_], list_sizes: Integers) -> ClickLog:
    documents, n_lists = coded(data.document_names, "document"), len(list_sizes)
    begins = np.cumsum(list_sizes) - list_sizes
    return ClickLog(
        Coded(np.repeat(np.arange(n_lists, dtype=np.int32), list_sizes), np.arange(1, n_lists + 1)),
        Coded(data.groups.query_of_row[drawn.rows].astype(np.int32), data.groups.ids.copy()),
        Coded(documents.codes[drawn.rows], documents.ids),
        np.arange(len(drawn.rows)) - np.repeat(begins, list_sizes) + 1,
        drawn.clicked,
        policy=Coded(drawn.policy, policies) if len(policies) > 1 else None,
    )
