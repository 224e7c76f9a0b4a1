"""Fits a ranker on the parts of a fold: as it is, or with the best of several settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.errors import InputError
from rankwright.training.concurrent_fits import run_all
from rankwright.tuning.grid import settings_of
from rankwright.tuning.judging_queries import OUT_OF_FOLD, find_protocol
from rankwright.tuning.trials import configured
from rankwright.tuning.tune import require_workers
from rankwright.tuning.tune import tune as choose_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.crossval.folds import FoldParts
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.tuning.grid import Grid
    from rankwright.tuning.judging_queries import Judged
    from rankwright.tuning.trials import Trial


class FoldFit(NamedTuple):
    """A ranker fitted on one fold, the chosen setting, and the trials it was chosen from."""

    ranker: Ranker
    chosen: Mapping[str, Any]
    trials: tuple[Trial, ...]


@dataclass(frozen=True, eq=False)
class FoldFitter:
    """Fits copies of a ranker on folds, as the options of `cross_validate` say.

    `protocol` says how each fold chooses a setting of the `grid`, by default the ranker's own; None fits the
    ranker as it is, and the validation part, if any, chooses the round.
    """

    ranker: Ranker
    grid: Grid | None
    protocol: str | None
    refit: bool
    workers: int | None
    on_fit: Callable[[], None]
    time_column: str | None = None

    def __post_init__(self) -> None:
        """Report mistakes before any fit."""
        if self.protocol:
            if self.refit:
                raise InputError(
                    "refit=True is for fits without tuning; tune='out-of-fold' also learns from both parts."
                )
            require_workers(self.workers)
            find_protocol(self.protocol)
            settings_of(self.ranker, self.grid)

    def fit(self, fold: FoldParts) -> FoldFit:
        """Return a copy of the ranker fitted on a fold; with tuning, of the setting that the fold chose."""
        if self.protocol is None:
            return FoldFit(self._fit(configured(self.ranker, {}), fold.train, fold.valid), {}, ())
        tuning = choose_setting(
            self.ranker,
            fold.train,
            validation=fold.valid,
            choose=self.protocol,
            time_column=self.time_column if self.protocol == OUT_OF_FOLD else None,
            grid=True if self.grid is None else self.grid,
            workers=self.workers,
            on_fit=self.on_fit,
        )
        return FoldFit(self._fit(tuning.ranker, tuning.data, None), tuning.best.parameters, tuning.trials)

    def _fit(self, ranker: Ranker, train: Judged, valid: Judged | None) -> Ranker:
        """Fit on another thread: Ctrl-C then ends the wait for the fit, and no half-fitted ranker is kept."""

        def fit(ranker: Ranker, on_round: OnRound) -> Ranker:
            return ranker.fit(train, validation=valid, refit=self.refit, on_round=on_round)

        return run_all(fit, [ranker], workers=1, on_done=self.on_fit)[0]
