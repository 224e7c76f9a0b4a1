"""The result of a tuning: the chosen setting, every trial, and the influence of each parameter."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import UNKNOWN, counted, interval, metric_value, percent, plain, said_p_value
from rankwright.rankers.parameters.spelling import setting_text, spelled
from rankwright.reports.blocks import Cell, Column, Facts, Figure, Figures, Kind, Note, Section, Table, Text
from rankwright.reports.charts.bars import bar_chart, interval_chart
from rankwright.reports.charts.points import Point, scatter_chart
from rankwright.reports.result import Result
from rankwright.statistics.intervals import LEVEL
from rankwright.tuning.optuna_search import ALL_TRIALS
from rankwright.tuning.optuna_storage import parameter_importances
from rankwright.tuning.selection_bias import SIGNIFICANT, Correction, corrected
from rankwright.tuning.trials import COMPLETE, PRUNED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from optuna.study import Study

    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart
    from rankwright.training.history import Round
    from rankwright.training.training_set import TrainingSet
    from rankwright.tuning.trials import Trial

MAX_TRIALS = 200  # listed
OPEN_TRIALS = 10  # of a longer list, so many are shown before it is opened
WIDTH, HEIGHT = 240, 170  # of charts side by side
WIDE_RANGE = 20.0  # from so large a ratio on, the axis is logarithmic
MAX_CATEGORIES = 12  # of a parameter's values
FEWEST_TRIALS = 10  # complete ones, from which on the importance of parameters is more than noise
BEST, OWN = "best setting", "own setting"
OF_PARAMETERS = (
    "Each point is a complete trial; the other parameters differ too, so a cloud without a slope is common. Of a "
    "parameter without numbers: the mean of the trials with each value, with a line from the lowest to the "
    "highest."
)


@dataclass(frozen=True, repr=False)
class Tuning(Result):
    """The choice of a setting.

    `ranker` has the chosen setting and number of rounds and is not fitted yet; `data` are the documents to fit it
    on: those given, together with the validation part if settings were compared `"out-of-fold"` (`protocol`).
    `best` is the best of all `trials`, `baseline` the one with the ranker's own setting, None if it is not among
    them. `study` is Optuna's, for its plots; None after a grid. `ended` says why there are no more trials:
    `"all trials"`, `"time limit"` or `"interrupted"`. `time_column` has the times by which folds were ordered.
    """

    ranker: Ranker
    data: TrainingSet
    protocol: str
    best: Trial
    trials: tuple[Trial, ...]
    baseline: Trial | None = None
    space: Mapping[str, str] = field(default_factory=dict)
    study: Study | None = None
    ended: str = ALL_TRIALS
    seconds: float = 0.0
    time_column: str | None = None

    @cached_property
    def correction(self) -> Correction:
        """The best setting's value, corrected for selection bias, beside the ranker's own setting."""
        return corrected(str(self.ranker.metric), self.trials, self.best, self.baseline)

    @cached_property
    def importances(self) -> dict[str, float]:
        """The fraction of the differences between trials that each parameter explains; empty for few trials."""
        if self.study is None or len(self._complete) < FEWEST_TRIALS:
            return {}
        return parameter_importances(self.study)

    def fit(self, *, on_round: Callable[[Round], None] | None = None) -> Ranker:
        """Fit the ranker with the chosen setting and number of rounds on `data`, and return it."""
        return self.ranker.fit(self.data, on_round=on_round)

    def to_dict(self) -> dict[str, Any]:
        """Return choice and trials as JSON values; settings are spelled as on the command line."""
        facts: dict[str, Any] = plain(
            {
                "ranker": self.ranker.name,
                "metric": str(self.ranker.metric),
                "protocol": self.protocol,
                "space": self.space,
                "best": self.best.details(),
                "baseline": None if self.baseline is None else self.baseline.details(),
                "correction": self.correction,
                "trials": [trial.details() for trial in self.trials],
                "ended": self.ended,
                "seconds": self.seconds,
            }
        )
        return facts

    @property
    def title(self) -> str:
        """The title of a page."""
        return f"Tuning of {type(self.ranker).__name__}"

    @property
    def summary(self) -> str:
        """What to expect of the best setting, beside the ranker's own, in one sentence."""
        result, name = self.correction, type(self.ranker).__name__
        limits = interval(*result.interval)
        known = "" if limits == UNKNOWN else f" ({percent(LEVEL)} interval {limits})"
        value = f"a mean {result.metric} of {metric_value(result.value)}"
        expected = f"is expected to have {value} on new queries{known}"
        if result.default is not None and result.chosen == result.default.value:
            others = counted(len(self.trials) - 1, "other setting")
            return f"None of {others} is better than the own setting of {name}, which {expected}."
        expected = f"The best setting of {name} {expected}"
        if result.default is None or np.isnan(result.default.ahead):
            return f"{expected}."
        ahead, p = result.default.ahead, result.default.p_value
        beside = f"{metric_value(abs(ahead))} {'more' if ahead > 0 else 'less'} than its own setting"
        chance = "" if p < SIGNIFICANT else ", which may be chance"
        return f"{expected}, {beside}{chance} ({said_p_value(p)})."

    def blocks(self) -> Iterator[Section]:
        """Yield what was chosen, all trials, and the influence of parameters."""
        yield Section("What was chosen", list(self._choice()))
        yield Section("Trials", list(self._trials()))
        yield Section("Parameters", list(self._parameters()))

    @property
    def _complete(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.state == COMPLETE and np.isfinite(trial.value)]

    def _choice(self) -> Iterator[Block]:
        result, metric = self.correction, self.correction.metric
        yield Facts(
            {"chosen setting": setting_text({**self.best.parameters, "rounds": self.best.rounds})}, below=True
        )
        rows = [(OWN if self._is_own(self.best) else BEST, result.value, *result.interval)]
        if result.default is not None and not self._is_own(self.best):
            rows.append((OWN, result.default.value, np.nan, np.nan))
        drawn = [row for row in rows if np.isfinite(row[1])]
        if drawn:
            caption = f"{metric} to expect on new queries, with its {percent(LEVEL)} interval."
            yield Figure(partial(interval_chart, drawn, metric, description=caption), caption)
        yield Text(
            f"The best setting has {metric_value(result.chosen)} {metric} on the "
            f"{counted(result.queries, 'query')} that chose it. {metric_value(result.selection_bias)} of that is "
            f"selection bias, from choosing the best of {counted(result.settings, 'complete trial')}; new queries "
            "will not repeat it."
        )

    def _is_own(self, trial: Trial) -> bool:
        return self.baseline is not None and trial.number == self.baseline.number

    def _trials(self) -> Iterator[Block]:
        metric, states = str(self.ranker.metric), [trial.state for trial in self.trials]
        if len(self._complete) > 1:
            highest = max(trial.value for trial in self._complete)
            caption = f"{metric} of every complete trial, and the best so far: {metric_value(highest)} in the end."
            yield Figure(partial(_progress_chart, self._complete, metric, caption), caption)
        names = list(dict.fromkeys(name for trial in self.trials for name in trial.parameters))
        columns = [
            Column("trial", Kind.COUNT),
            Column(metric),
            Column("rounds", Kind.COUNT),
            Column("seconds", Kind.SECONDS),
            Column("state", Kind.TEXT),
            *(Column(name, Kind.TEXT) for name in names),
        ]
        ranked = sorted(self.trials, key=_rank)
        best = [trial for rank, trial in enumerate(ranked) if rank < OPEN_TRIALS or self._is_own(trial)]
        counts = ", ".join(f"{states.count(state):,} {state}" for state in dict.fromkeys(states))
        pruned = " A pruned trial was judged by the first folds alone." if PRUNED in states else ""
        early = "" if self.ended == ALL_TRIALS else f" The search ended early: {self.ended}."
        yield Table(
            columns,
            [self._row(trial, names) for trial in best],
            "The best trials." if len(ranked) > len(best) else "",
        )
        if len(ranked) > len(best):
            rows = [self._row(trial, names) for trial in ranked[:MAX_TRIALS]]
            yield Table(columns, rows, folded=f"All {counted(len(rows), 'trial')}")
        yield Note(f"{counted(len(states), 'trial')}: {counts}.{pruned}{early}")
        if len(states) > MAX_TRIALS:
            yield Note(f"The best {MAX_TRIALS} of {len(states):,} trials are listed.")

    def _row(self, trial: Trial, names: Sequence[str]) -> list[Any]:
        setting = [spelled(trial.parameters[name]) if name in trial.parameters else "" for name in names]
        state = Cell(trial.state, OWN if self._is_own(trial) else "")
        return [trial.number + 1, trial.value, trial.rounds, trial.seconds, state, *setting]

    def _parameters(self) -> Iterator[Block]:
        complete, metric = self._complete, str(self.ranker.metric)
        names = dict.fromkeys(name for trial in complete for name in trial.parameters)
        figures = [figure for name in names for figure in _parameter(name, complete, metric)]
        if figures and sum(self.importances.values()) > 0:
            trials = counted(len(complete), "complete trial")
            caption = (
                "Importance of parameters: the fraction of the differences between trials that each explains, by "
                f"Optuna's fANOVA. From {trials}, so only large differences count."
            )
            yield Figure(partial(bar_chart, self.importances, "importance", description=caption), caption)
        if figures:
            yield Figures(figures, OF_PARAMETERS)


def _rank(trial: Trial) -> tuple[bool, float]:
    return trial.state != COMPLETE, -trial.value if np.isfinite(trial.value) else np.inf


def _progress_chart(trials: Sequence[Trial], metric: str, description: str) -> Chart:
    """Return the values of complete trials in their order, and the best so far."""
    best_so_far = np.maximum.accumulate([trial.value for trial in trials]).tolist()
    steps = [(trial.number + 1, value) for trial, value in zip(trials, best_so_far, strict=True)]
    line = [steps[0]]
    for (_, before), (number, value) in pairwise(steps):
        line += [(number, before), (number, value)]
    points = [Point(_setting(trial), trial.number + 1, trial.value, "trial", "") for trial in trials]
    return scatter_chart(points, "trial", metric, description=description, lines={"best so far": line})


def _parameter(name: str, trials: Sequence[Trial], metric: str) -> Iterator[Figure]:
    """Yield the chart of a parameter that has several values."""
    tried = [(trial.parameters[name], trial) for trial in trials if name in trial.parameters]
    numbers = [(float(value), trial) for value, trial in tried if _is_number(value)]
    description = f"{metric} of {counted(len(tried), 'trial')} by {name}."
    if len({value for value, _ in numbers}) > 1 and 2 * len(numbers) > len(tried):
        values = [value for value, _ in numbers]
        log = min(values) > 0 and max(values) > WIDE_RANGE * min(values)
        points = [Point(_setting(trial), value, trial.value, "", "") for value, trial in numbers]
        without = len(tried) - len(numbers)
        caption = f"{name}; {counted(without, 'trial')} without a number left out" if without else name
        size: dict[str, Any] = {"width": WIDTH, "height": HEIGHT}
        chart = partial(scatter_chart, points, name, metric, description=description, x_log=log, **size)
        yield Figure(chart, caption)
    elif 1 < len({spelled(value) for value, _ in tried}) <= MAX_CATEGORIES:
        rows = _by_value(tried)
        yield Figure(partial(interval_chart, rows, metric, description=description, width=WIDTH), name)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _by_value(tried: Sequence[tuple[Any, Trial]]) -> list[tuple[str, float, float, float]]:
    """Return mean, lowest and highest of the trials with each value, the best mean first."""
    by_text: dict[str, list[float]] = {}
    for value, trial in tried:
        by_text.setdefault(spelled(value) or "none", []).append(trial.value)
    rows = [(text, float(np.mean(values)), min(values), max(values)) for text, values in by_text.items()]
    return sorted(rows, key=lambda row: -row[1])


def _setting(trial: Trial) -> str:
    parameters = ", ".join(f"{name} = {spelled(value)}" for name, value in trial.parameters.items())
    return f"trial {trial.number + 1}: {parameters}"
