"""The rankers that AutoRanker tries, in order: each adds most to the mixture of those before it.

`benchmarks/portfolio.py` makes the order and measures the costs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.ensembling.mixtures import uniform_weights
from rankwright.ensembling.pool import fitted_scorer
from rankwright.models.combination import Combination
from rankwright.models.nested_scorers import QueryFeatureScorer
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.calibrated_adaboost import CalibratedAdaBoost
from rankwright.rankers.fusion import Fusion, has_sources
from rankwright.rankers.lambdamart import ROUNDS, LambdaMART
from rankwright.rankers.lambdarank import LambdaRank
from rankwright.rankers.listnet import ListNet
from rankwright.rankers.mart import MART
from rankwright.rankers.mcrank import McRank
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranknet import RankNet
from rankwright.rankers.ranksvm import RankSVM
from rankwright.rankers.shared.fixed_model import ReadyModel
from rankwright.rankers.shared.foreign_boosters import FOREIGN_BOOSTERS
from rankwright.rankers.shared.tree_ranker import TreeRanker

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from rankwright.auto.plan import FitPlan
    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import Documents
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.training.training_set import TrainingSet

COLUMNS = ("zscore", "rank")
SEEDS_APART = 1000  # so that entries with neighbouring seeds share none
ROUND_COUNTS = 12
"""How many numbers of rounds are compared. They are evenly spaced, as `middle_round` needs them."""


@dataclass(frozen=True)
class Entry:
    """A ranker of the portfolio.

    Parameters
    ----------
    name
        Its name in standings.
    ranker
        The ranker with its settings, not fitted.
    cost
        Seconds of a fit, relative to those of the other entries.
    seeds
        Number of models with different seeds, whose scores are averaged; the ranker's own is the first.
    spare_seeds
        Number of further seeds, for when there is time left.
    fixed_rounds
        Whether it gets no more rounds than it has, even if its value still rises at the last.
    """

    name: str
    ranker: Ranker
    cost: float = 1.0
    seeds: int = 1
    spare_seeds: int = 0
    fixed_rounds: bool = False

    @property
    def rounds(self) -> tuple[int, ...]:
        """The numbers of rounds to compare; none if the ranker has no rounds."""
        most = self.ranker.get_params(deep=False).get("rounds")
        if most is None:
            return ()
        return tuple(sorted({-(-most * step // ROUND_COUNTS) for step in range(1, ROUND_COUNTS + 1)}))

    def single(self) -> Entry:
        """Return the entry with its first seed alone."""
        return replace(self, seeds=1, spare_seeds=self.seeds - 1, cost=self.cost / self.seeds)

    def with_all_seeds(self) -> Entry:
        """Return the entry with the spare seeds too."""
        seeds = self.seeds + self.spare_seeds
        return replace(self, seeds=seeds, spare_seeds=0, cost=self.cost * seeds / self.seeds)

    def longer(self) -> Entry:
        """Return the entry with twice as many rounds."""
        return self._with_rounds(2 * self.ranker.get_params(deep=False)["rounds"])

    def shorter(self) -> Entry:
        """Return the entry with half the rounds if it has trees, which get more rounds as long as these help."""
        if not isinstance(self.ranker, TreeRanker):
            return self
        n_rounds: int | None = self.ranker.get_params(deep=False)["rounds"]
        return self if n_rounds is None else self._with_rounds(-(-n_rounds // 2))

    def _with_rounds(self, n_rounds: int) -> Entry:
        cost = self.cost * n_rounds / self.ranker.get_params(deep=False)["rounds"]
        return replace(self, ranker=self.ranker.unfitted().set_params(rounds=n_rounds), cost=cost)

    def optimising(self, metric: Metric) -> Entry:
        """Return the entry with this metric, which its ranker optimises if it can, unless it has its own."""
        if self.ranker.metric != type(self.ranker).metric:
            return self
        return replace(self, ranker=self.ranker.unfitted().set_params(metric=metric))

    def fitted(
        self, train: TrainingSet, n_threads: int, on_round: OnRound, sample_weight: Doubles | None = None
    ) -> Scorer:
        """Fit the ranker with all seeds and return the mean of their scorers."""
        rankers = [self.ranker, *(self._with_seed(number) for number in range(1, self.seeds))]
        return mean_of(
            [fitted_scorer(ranker, train, n_threads, on_round, sample_weight=sample_weight) for ranker in rankers]
        )

    def _with_seed(self, number: int) -> Ranker:
        seed = self.ranker.get_params(deep=False)["random_state"] + number * SEEDS_APART
        return self.ranker.unfitted().set_params(random_state=seed)


def mean_of(scorers: Sequence[Scorer]) -> Scorer:
    """Return the mean of scorers of the same features; columns within the query that they share are made once."""
    if len(scorers) == 1:
        return scorers[0]
    first, weights = scorers[0], uniform_weights(len(scorers))
    if isinstance(first, QueryFeatureScorer):
        inner = tuple(scorer.inner for scorer in scorers if isinstance(scorer, QueryFeatureScorer))
        return QueryFeatureScorer(Combination(inner, weights), first.columns, first.raw)
    return Combination(tuple(scorers), weights)


SYMMETRIC: dict[str, Any] = {
    "grow_policy": "symmetric",
    "max_leaves": 64,
    "learning_rate": 0.1,
    "subsample": 1.0,
    "feature_fraction": 1.0,
}
"""For labels with little noise, where small, shrunk and sampled trees need thousands of rounds."""

SAMPLED_SYMMETRIC: dict[str, Any] = SYMMETRIC | {"subsample": 0.7}
"""The same on 70 % of the documents per round: the mean of several seeds is then better than one model."""

LEAFWISE: dict[str, Any] = {"grow_policy": "leafwise", "pairs": "all", "query_features": COLUMNS}
"""Small trees on samples of documents and features, of lambdas: they differ most from the symmetric ones."""

PORTFOLIO = (
    Entry("LambdaMART", LambdaMART(rounds=200), 2.9),
    Entry("RankSVM", RankSVM(), 0.3),
    Entry("MART, symmetric", MART(rounds=100, **SAMPLED_SYMMETRIC), 5.5, seeds=3),
    Entry("LambdaMART, leafwise, columns", LambdaMART(rounds=300, random_state=1, **LEAFWISE), 2.5),
    Entry("LambdaMART, all pairs", LambdaMART(rounds=100, pairs="all", **SYMMETRIC), 2.3),
    Entry(
        "MART, symmetric, columns",
        MART(rounds=100, random_state=1, query_features=COLUMNS, **SAMPLED_SYMMETRIC),
        4.0,
    ),
    Entry("AdaRank", AdaRank(), 0.8),
    Entry("LambdaRank", LambdaRank(), 1.3),
    Entry("RankBoost", RankBoost(), 1.4),
    Entry("McRank, columns", McRank(rounds=150, query_features=COLUMNS), 3.8),
    Entry("RankNet", RankNet(), 1.2),
)
"""For up to a few thousand queries; several seeds where these gain most. Those whose value still rises at their
last round get more rounds."""

QUICK = tuple(replace(entry.single(), spare_seeds=0) for entry in PORTFOLIO[:5])
"""Trees and a linear model, one seed each, in five folds."""

MORE_SEEDS = ("LambdaMART", "LambdaMART, leafwise, columns", "MART, symmetric, columns")

BEST = (
    *(replace(entry, seeds=3, cost=3 * entry.cost) if entry.name in MORE_SEEDS else entry for entry in PORTFOLIO),
    Entry("ListNet", ListNet(), 0.8),
    Entry("CalibratedAdaBoost", CalibratedAdaBoost(splits=4), 40.0),
)
"""Three seeds of LambdaMART and MART where they draw samples, and what adds little for its time."""

PRESETS = {"quick": QUICK, "default": PORTFOLIO, "best": BEST}
QUICK_FOLDS = 5

LARGE = (
    Entry("LambdaMART", LambdaMART(rounds=500, grow_policy="symmetric", pairs="neighbours"), 1.0),
    Entry("LambdaMART, all pairs", LambdaMART(rounds=200, pairs="all", **SYMMETRIC), 0.4),
    Entry("MART, symmetric", MART(rounds=200, **SYMMETRIC), 0.3),
)
"""For very many queries: what a mixture of trees gains is small, and everything else is far behind."""

LARGE_PRESETS = {
    "quick": LARGE[:1],
    "default": LARGE,
    "best": (replace(LARGE[0], seeds=2, cost=2 * LARGE[0].cost), *LARGE[1:]),
}
"""Only the first draws random numbers."""

INTERPRETABLE = (
    Entry("RankSVM", RankSVM(), 0.2),
    Entry("ListNet", ListNet(), 0.8),
    Entry("AdaRank", AdaRank(), 0.1),
    Entry("RankBoost", RankBoost(rounds=100), 0.3),
)
"""Weighted sums of features, and of thresholds on single features in one direction each."""


def portfolio_for(plan: FitPlan, data: Documents, preset: str) -> Sequence[Entry]:
    """Return the portfolio for data of this size; of several retrievers, their fusion comes first."""
    fusion = [Entry("fusion", Fusion(), 0.1)] if has_sources(data) else []
    return [*fusion, *(LARGE_PRESETS[preset] if plan.is_large else PRESETS[preset])]


def companion_entries(names: Sequence[str]) -> list[Entry]:
    """Return the entries of other libraries, which must be installed: settings for small data, and defaults."""
    entries = []
    for kind in (FOREIGN_BOOSTERS[name] for name in names):
        kind().package()
        entries += [Entry(kind.library, kind(), 2.0), Entry(f"{kind.library}, defaults", kind(small=False), 4.0)]
    return entries


def require_different(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse model files that are not there, and a file that is given twice."""
    for path in paths:
        if not Path(path).exists():
            raise InputError(f"There is no file {path}.")
    if len({Path(path).resolve() for path in paths}) < len(paths):
        raise InputError("A model file is given twice.")


def model_entries(paths: Sequence[str | os.PathLike[str]], data: Documents) -> list[Entry]:
    """Return the entries of model files, named by them, which must be models of these data's features."""
    models = [ReadyModel.of_file(path) for path in paths]
    for model in models:
        model.scorer_for(data)
    names = Counter(Path(path).name for path in paths)
    return [
        Entry(f"model {path.name if names[path.name] == 1 else path}", model, cost=0.0)
        for path, model in zip(map(Path, paths), models, strict=True)
    ]


def named(rankers: Sequence[Ranker]) -> Iterator[tuple[str, Ranker]]:
    """Yield rankers with the names of their classes; equal names are numbered."""
    names = [type(ranker).__name__ for ranker in rankers]
    seen = Counter[str]()
    for name, ranker in zip(names, rankers, strict=True):
        seen[name] += 1
        yield name if names.count(name) == 1 else f"{name} {seen[name]}", _with_rounds(ranker)


def _with_rounds(ranker: Ranker) -> Ranker:
    """Return the ranker with a number of rounds, of which judging queries choose, if its data would decide."""
    by_data = ranker.get_params(deep=False).get("rounds", 0) is None
    return ranker.unfitted().set_params(rounds=ROUNDS) if by_data else ranker
