"""AutoRanker: a mixture of many rankers, judged out of fold, with an honest estimate of its value."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, Unpack

import numpy as np

from rankwright.auto.estimate import Estimate, estimate
from rankwright.auto.export_target import ExportTarget
from rankwright.auto.fitting import Judging
from rankwright.auto.frontier import Frontier, Prices
from rankwright.auto.mixing import mix
from rankwright.auto.plan import FitPlan
from rankwright.auto.portfolio import (
    INTERPRETABLE,
    PRESETS,
    QUICK_FOLDS,
    Entry,
    companion_entries,
    model_entries,
    named,
    portfolio_for,
    require_different,
)
from rankwright.auto.run import AutoRun
from rankwright.auto.selection import best_choice, remembered, select
from rankwright.auto.time_budget import affordable
from rankwright.base.custom_code import identity
from rankwright.base.errors import InputError
from rankwright.base.errors import parameter as parameter_name
from rankwright.base.fit_cache import FitCache
from rankwright.base.wording import plain
from rankwright.data.splitting import concat
from rankwright.ensembling.mixtures import best_alone, plausible_weights
from rankwright.metrics.gain import NDCG
from rankwright.rankers.catalogue import read_ranker
from rankwright.rankers.parameters.checks import Duration, Flag, ListOf, OneOf, PathText, Real, Value
from rankwright.rankers.parameters.declaration import MetricParameter, RandomParameters, Spelled, fitted, parameter
from rankwright.rankers.ranker import Ranker
from rankwright.training.training_set import TrainingSet

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from rankwright.auto.estimate import Choose
    from rankwright.auto.export_target import LimitedPortfolio
    from rankwright.auto.leaderboard import Leaderboard, LeaderboardOptions
    from rankwright.auto.mixing import FitProgress, JudgedEntry, Standings, Weigh
    from rankwright.data.dataset import RankingData
    from rankwright.ensembling.pool import Pool
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History, Round

ANY_RANKER = Value(Ranker, "RankSVM()", read_ranker, "a ranker such as ranksvm")


class AutoRanker(RandomParameters, Ranker):
    """A mixture of many rankers, each judged on queries that it has not learned from.

    Every ranker of a portfolio is fitted on parts of the queries and judged by the others, out of fold; these
    choose its number of rounds and its weight in the mixture. The rankers are then fitted on all queries.
    Validation data are judged queries like the others.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20)
    >>> ranker = rw.AutoRanker("mrr", portfolio=["RankSVM", "AdaRank"]).fit(judged)
    >>> sorted(member.name for member in ranker.standings_)
    ['AdaRank', 'RankSVM']
    >>> round(ranker.estimate_.value, 2)  # what to expect on new queries
    1.0
    """

    name: ClassVar[str] = "auto"

    metric: MetricParameter = parameter(
        meaning="Metric by which members and mixtures are judged, and which members optimise if they can.",
        default=NDCG(k=10),
        kw_only=False,
    )
    preset: str = parameter(
        OneOf(tuple(PRESETS)),
        "How much to try: 'quick' fits five rankers in five folds, 'best' has three seeds of some and two "
        "rankers more than the 'default'.",
        default="default",
    )
    time_limit: Spelled[float | None, float | str | None] = parameter(
        Duration(optional=True),
        "Time for all fits, in seconds or as text such as '10m'. If it is short, there are fewer seeds, then "
        "fewer folds, then fewer rounds of trees, and at last fewer rankers: one that would take longer than the "
        "time left is skipped. None: no limit.",
        default=None,
    )
    max_microseconds: float | None = parameter(
        Real(above=0.0, optional=True),
        "Longest time to score one document on one thread of this machine, in microseconds. Members are left out, "
        "or cut to fewer rounds, until the model is as fast. None: no limit.",
        default=None,
    )
    interpretable: bool = parameter(
        Flag(),
        "Whether the model is the best single member of a portfolio of simple models: weighted sums of features, "
        "or of thresholds on them.",
        default=False,
    )
    companions: Sequence[str] = parameter(
        ListOf(OneOf(("lightgbm", "xgboost", "catboost")), distinct=True),
        "Other libraries whose rankers join the portfolio; they must be installed.",
        default=(),
    )
    models: Sequence[str | os.PathLike[str]] = parameter(
        ListOf(PathText()),
        "Model files, of rankwright or of another tool, that join the portfolio as they are. They must not have "
        "learned from these queries, all of which judge them.",
        default=(),
    )
    portfolio: Spelled[Sequence[Ranker] | None, Sequence[Ranker | str | Mapping[str, Any]] | str | None] = (
        parameter(
            ListOf(
                ANY_RANKER, least=1, optional=True, text="names separated by commas, such as ranksvm,lambdamart"
            ),
            "The rankers to mix; those whose metric is not set optimise that of AutoRanker. None: the built-in "
            "portfolio.",
            default=None,
        )
    )
    baseline_column: str | None = parameter(
        Value(str, "position", str, "a column", optional=True),
        "Column by which documents are ordered today, ascending, or descending with `-` before it: a feature, or "
        "a column that is shown. The model is compared with this order. None: with no order.",
        default=None,
    )
    time_column: str | None = parameter(
        Value(str, "'week'", str, "a column", optional=True),
        "Column with the time of each query, a number or a date: a feature, or a column that is shown. The later "
        "half of the queries judges, in folds in time order, and each fold is judged by fits on earlier queries. "
        "None: random folds.",
        default=None,
    )
    target: str | None = parameter(
        Value(str, "'solr'", str, "a format of export", optional=True),
        "Where the model is to be exported: a format of `export`, such as 'elasticsearch' or 'solr', with the "
        "engine's version after a colon where that matters, as in 'opensearch-ltr:3.8'. Only rankers whose "
        "mixture the target holds exactly are fitted. None: all.",
        default=None,
    )
    work: str | os.PathLike[str] | None = parameter(
        PathText(optional=True),
        "Folder that caches every finished fit, so that a run that was killed can resume. None: cache nothing.",
        default=None,
    )
    standings_: Standings = fitted("The members, by weight and then by value.")
    estimate_: Estimate = fitted("The value to expect on new queries, with its interval.")
    run_: AutoRun = fitted("The result of the run: judged members, failures, skipped members, frontier.")
    _watch: Callable[[FitProgress], None] | None = fitted("")

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        *,
        validation: RankingData | TrainingSet | Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        start: Any = None,
        validation_start: ArrayLike | None = None,
        refit: bool = False,
        on_round: Callable[[Round], None] | None = None,
        on_progress: Callable[[FitProgress], None] | None = None,
        **unknown: Never,
    ) -> Self:
        """Learn from judged documents; takes what every ranker's `fit` takes, except `start`.

        `on_progress` is called with the state of the run after each fit.
        """
        self._watch = on_progress
        try:
            return super().fit(
                X,
                y,
                qid,
                validation=validation,
                sample_weight=sample_weight,
                query_weight=query_weight,
                start=start,
                validation_start=validation_start,
                refit=refit,
                on_round=on_round,
                **unknown,
            )
        finally:
            self._watch = None

    def leaderboard(
        self, data: RankingData, systems: Mapping[str, Any] | None = None, **options: Unpack[LeaderboardOptions]
    ) -> Leaderboard:
        """Compare the model with its members, the best feature and other systems, on any judged documents.

        The best feature is that of the training queries. The order by `baseline_column`, if the ranker has one, is
        a system too. Every system is compared with the model, with paired intervals and tests.

        Parameters
        ----------
        data
            Judged documents, of queries that the model has not learned from; how many it has is said.
        systems
            Other systems by name, as for `evaluate`: models, arrays of scores, runs, or columns to order by.
        options
            `metrics`, by default that of the ranker, `slices`, `level`, `random_state`, `convention`,
            `min_relevant` and `drop_one_label`, as for `compare`.

        Examples
        --------
        >>> train, test = rw.split_queries(rw.synthetic.gaussian_queries(30, spread=(0.2, 1.3)), 0.5, 0.5)
        >>> ranker = rw.AutoRanker("map", portfolio=["RankSVM", "AdaRank"]).fit(train)
        >>> board = ranker.leaderboard(test, {"second": test.X[:, 1]})
        >>> [place.system for place in board.places][-1]
        'second'
        >>> board.comparison.pair("this model", "second").difference > 0
        True
        """
        from rankwright.auto.leaderboard import leaderboard

        self._fitted()
        given: dict[str, Any] = {"n_jobs": self.n_jobs, **options}
        return leaderboard(self.run_, self.model_, data, systems or {}, self.baseline_column, **given)

    def report(
        self, path: str | os.PathLike[str], *, reproduce: str = "", leaderboard: Leaderboard | None = None
    ) -> None:
        """Write an HTML page about the fitted mixture: estimate, members and accuracy-latency frontier.

        Mixtures of all costs are timed for it, which takes a moment. `reproduce` is the command or code that makes
        the model again; by default this ranker's. A `leaderboard` is shown too.
        """
        from rankwright.auto.page import write_auto_page

        self._fitted()
        code = reproduce or f"rankwright.{self!r}.fit(data)"
        write_auto_page(self.run_, self.model_, path, reproduce=code, leaderboard=leaderboard)

    def _notebook_parts(self) -> tuple[Any, ...]:
        return self.estimate_, self.standings_

    def _fit_once_or_twice(self, task: FitTask, *, refit: bool) -> tuple[FitTask, Scorer, History]:
        """Fit once: validation data are judged queries like the others, so a refit would change nothing."""
        del refit
        task = _all_queries(task)
        return (task, *self._fit(task))

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        """Judge every entry of the portfolio, mix them, and estimate the value of the mixture."""
        plan = FitPlan.of(task.train, self.random_state, time_column=self.time_column)
        if self.baseline_column is not None:
            plan.whole.data.scores_by(self.baseline_column)  # refuses a column that is not there, before any work
        # Refuses labels that the metric is not defined for: once, and not for every ranker of the portfolio.
        plan.held_out.values(self.metric, np.zeros(plan.held_out.labels.groups.n_rows), task.n_threads)
        entries, left_out = self._entries(plan), {}
        target = None if self.target is None else ExportTarget.of(self.target)
        if target is not None:
            limited = self._limited(entries, target, plan)
            entries, left_out = limited.entries, limited.left_out
            plan = replace(plan, standardise=limited.standardises)
        if self.preset == "quick" and plan.folds > QUICK_FOLDS:
            plan = plan.with_folds(QUICK_FOLDS, self.random_state)
        per_cost = None
        if self.time_limit is not None and self.portfolio is None:
            plan, entries, per_cost = affordable(plan, entries, self.time_limit, task.n_threads, self.random_state)
        judging = Judging(plan, self.metric, task, self.time_limit, self._weigh, per_cost)
        cache = None if self.work is None else FitCache(self.work, self._dependencies(plan, task))
        judging.run(entries, cache, self._watch)
        run = self._mixed(judging.pool, plan, task.n_threads)
        self.run_ = replace(run, skipped={**left_out, **run.skipped})
        self.standings_, self.estimate_ = self.run_.standings, self.run_.estimate
        model = self.run_.kept.mix.scorer()
        if target is not None:
            target.require(model, plan.whole)
        return model, judging.history

    def _limited(self, entries: Sequence[Entry], target: ExportTarget, plan: FitPlan) -> LimitedPortfolio:
        """Return the entries that an export target holds; refuse rankers that were asked for and are not."""
        target.require_values(plan.whole)
        built_in = set() if self.portfolio is not None else {entry.name for entry in self._own_entries(plan)}
        given = [entry for entry in entries if entry.name not in built_in]
        adapted = target.adapted([entry for entry in entries if entry.name in built_in], plan.whole)
        limited = target.limit([*given, *adapted], plan.whole, mixed=not self.interpretable)
        for name, reason in limited.left_out.items():
            if name in (entry.name for entry in given):
                raise InputError(f"{name} cannot be part of a model for {target.title}: {reason}")
        return limited

    def _check_together(self) -> None:
        others = {"portfolio": self.portfolio, "companions": self.companions, "models": self.models}
        given = [name for name, members in others.items() if members is not None and len(members)]
        if self.interpretable and given:
            raise InputError(
                f"{parameter_name('interpretable=True')} has a portfolio of its own, of simple models: give no "
                f"{parameter_name(given[0])}."
            )
        if self.preset != "default" and (self.interpretable or self.portfolio is not None):
            other = "interpretable=True" if self.interpretable else "portfolio"
            raise InputError(
                f"{parameter_name('preset')} chooses a portfolio, and so does {parameter_name(other)}."
            )
        if any(isinstance(ranker, AutoRanker) for ranker in self.portfolio or ()):
            raise InputError("The portfolio of AutoRanker cannot have an AutoRanker in it.")
        if self.target is not None:
            ExportTarget.of(self.target)
        companion_entries(self.companions)  # refuses a library that is not installed, before any work
        require_different(self.models)

    @property
    def _weigh(self) -> Weigh:
        return best_alone if self.interpretable else plausible_weights

    def _entries(self, plan: FitPlan) -> list[Entry]:
        """Return the portfolio for these data, each ranker with the metric to optimise."""
        ready = model_entries(self.models, plan.whole.data)  # first, since they take no time
        return [
            entry.optimising(self.metric)
            for entry in (*ready, *self._own_entries(plan), *companion_entries(self.companions))
        ]

    def _own_entries(self, plan: FitPlan) -> Sequence[Entry]:
        """Return the given portfolio, or the built-in one for these data."""
        if self.portfolio is not None:
            return [Entry(name, ranker, fixed_rounds=True) for name, ranker in named(self.portfolio)]
        return INTERPRETABLE if self.interpretable else portfolio_for(plan, plan.whole.data, self.preset)

    def _mixed(self, pool: Pool[JudgedEntry], plan: FitPlan, n_threads: int) -> AutoRun:
        held_out, members, budget = plan.held_out, pool.members, self.max_microseconds
        frontier = Frontier(held_out, self.metric, Prices.on(plan.whole.data), n_threads, self._weigh)
        ways: list[Choose] = [partial(mix, members, self._weigh)]
        if budget is not None:
            ways = [lambda judgements: replace(frontier, judgements=judgements).within(members, budget).mix]
        elif not self.interpretable and len(members) > 1:
            ways.append(partial(select, members, self.metric, n_threads))
        ways = list(map(remembered, ways))
        choose = best_choice(ways, held_out, self.metric, n_threads) if len(ways) > 1 else ways[0]
        return AutoRun(
            plan,
            frontier,
            members,
            whole=frontier.priced(members),
            kept=frontier.price(choose(held_out.everyone)),
            estimate=estimate(members, choose, plan, self.metric, n_threads, baseline=self.baseline_column),
            max_microseconds=budget,
            failures={name: str(error) for name, error in pool.failures},
            skipped=dict(pool.skipped),
        )

    def _dependencies(self, plan: FitPlan, task: FitTask) -> dict[str, Any]:
        """Return what fits depend on besides their own settings."""
        weights = None if task.row_weights is None else hashlib.sha256(task.row_weights.data).hexdigest()
        metric = identity(self.metric, str(self.metric))
        division = [part.judges.fingerprint() for part in plan.parts] if plan.periods else []
        data = " ".join([plan.whole.fingerprint(), str(plan), *division])
        return {"data": data, "metric": metric, "random_state": self.random_state, "weights": weights}

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        about = super()._about(task, history)
        about["parameters"] = {name: value for name, value in about["parameters"].items() if name != "work"}
        about["parameters"]["models"] = str(tuple(map(str, self.models)))
        del about["rounds"]  # those of the history, which has one per member; `members` has the rounds of each
        # Without times: the same data and seed give the same file.
        members = [
            {"name": row.name, "value": row.value, "weight": row.weight, "rounds": row.rounds or None}
            for row in self.standings_
        ]
        return about | {
            "judged": str(self.run_.plan),
            "estimate": self.estimate_.to_dict(),
            "members": plain(members),
        }


def _all_queries(task: FitTask) -> FitTask:
    """Return the task of learning from training and validation documents, in canonical order."""
    train, weights = task.train, task.row_weights
    if task.validation is not None:
        if weights is not None:
            raise InputError("AutoRanker takes weights only without validation data, which would have none.")
        train = TrainingSet(concat(train.data, task.validation.data, shared_queries="separate"))
    rows = train.canonical_rows
    ordered = TrainingSet(train.data.take(rows))
    return replace(task, train=ordered, validation=None, row_weights=None if weights is None else weights[rows])
