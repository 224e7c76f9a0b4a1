"""How a ranker is fitted on the parts of a fold: as it is, or with the best of several settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.errors import InputError
from rankwright.training.workers import run_all
from rankwright.tuning.grid import settings_of
from rankwright.tuning.judging_queries import default_protocol, find_protocol
from rankwright.tuning.trials import configured
from rankwright.tuning.tune import require_workers
from rankwright.tuning.tune import tune as choose_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.crossval.folds import FoldParts, Folds
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.workers import OnRound
    from rankwright.tuning.grid import Grid
    from rankwright.tuning.judging_queries import Judged
    from rankwright.tuning.trials import Trial


class Fitted(NamedTuple):
    """A ranker fitted on one fold, the chosen setting, and the trials it was chosen from."""

    ranker: Ranker
    chosen: Mapping[str, Any]
    trials: tuple[Trial, ...]


@dataclass(frozen=True, eq=False)
class FoldFitter:
    """Fits a ranker on folds.

    Parameters
    ----------
    ranker
        The ranker; it stays unfitted.
    grid
        The values to try for each parameter; None for the ranker's own grid.
    protocol
        How a setting is chosen; None fits the ranker as it is, and the validation part, if any, chooses the round.
    refit
        Whether to fit again on training and validation part.
    workers
        Number of concurrent fits of settings.
    on_fit
        Called after each fit.
    """

    ranker: Ranker
    grid: Grid | None
    protocol: str | None
    refit: bool
    workers: int | None
    on_fit: Callable[[], None]

    @classmethod
    def of(
        cls,
        ranker: Ranker,
        grid: Grid | None,
        parts: Folds,
        tune: str | bool | None,
        refit: bool,
        workers: int | None,
        on_fit: Callable[[], None],
    ) -> FoldFitter:
        """Return the fitter for the options of `cross_validate`; mistakes are reported before any fit."""
        if refit and tune:
            raise InputError(
                "refit=True is for fits without tuning; tune='out-of-fold' also learns from both parts."
            )
        protocol = default_protocol(has_validation=parts.has_validation) if tune is True else tune or None
        if protocol:
            require_workers(workers)
            find_protocol(protocol)
            settings_of(ranker, grid)
        return cls(ranker, grid, protocol, refit, workers, on_fit)

    def fit(self, fold: FoldParts) -> Fitted:
        """Return a copy of the ranker fitted on a fold; with tuning, of the setting that the fold chose."""
        if self.protocol is None:
            return Fitted(self._fit(configured(self.ranker, {}), fold.train, fold.valid), {}, ())
        found = choose_setting(
            self.ranker,
            fold.train,
            validation=fold.valid,
            choose=self.protocol,
            grid=True if self.grid is None else self.grid,
            workers=self.workers,
            on_fit=self.on_fit,
        )
        return Fitted(self._fit(found.ranker, found.data, None), found.best.parameters, found.trials)

    def _fit(self, ranker: Ranker, train: Judged, valid: Judged | None) -> Ranker:
        """Fit on another thread: Ctrl-C then ends the wait for the fit, and no half-fitted ranker is kept."""

        def fit(one: Ranker, on_round: OnRound) -> Ranker:
            return one.fit(train, validation=valid, refit=self.refit, on_round=on_round)

        return run_all(fit, [ranker], workers=1, on_done=self.on_fit)[0]
