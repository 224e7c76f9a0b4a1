"""Whole fits on a cluster: folds, settings and members, each on one worker."""

from __future__ import annotations

from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rankwright.base.errors import InputError
from rankwright.distributed.cluster import opened_cluster
from rankwright.distributed.engine import MAX_ATTEMPTS, LostError
from rankwright.training.concurrent_fits import sent_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.distributed.engine import Engine

SECONDS_PER_LOOK = 0.2

Outcome = TypeVar("Outcome")


@contextmanager
def fits_on(cluster: Engine | int) -> Iterator[None]:
    """Send the fits of cross-validation, tuning and AutoRanker to a cluster, each fit to one worker.

    Models and results are those of one process. Documents travel with every fit, so this pays for fits that take
    seconds; `fit(..., cluster=...)` divides the documents of one large fit. `on_round` is called when a fit has
    ended, and a time limit is checked between fits.

    Parameters
    ----------
    cluster
        An engine such as `rw.distributed.Ray()`, or a number of processes of this machine.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(12)
    >>> with rw.distributed.fits_on(2):
    ...     result = rw.cross_validate(rw.RankSVM("map"), judged, folds=3, metrics="map")
    >>> result.mean("map") == rw.cross_validate(rw.RankSVM("map"), judged, folds=3, metrics="map").mean("map")
    True
    """
    with opened_cluster(cluster, None) as opened, sent_to(_WholeFits(opened.engine)):
        yield


class _WholeFits(NamedTuple):
    """Runs functions on an engine, as `concurrent_fits` asks for them."""

    engine: Engine

    @property
    def n_workers(self) -> int:
        return self.engine.n_workers

    def run(
        self, function: Callable[..., Outcome], *arguments: Any, is_stopped: Callable[[], bool]
    ) -> Outcome | None:
        future = self.engine.submit(function, *arguments).future
        while not wait_for([future], SECONDS_PER_LOOK).done:
            if is_stopped():
                future.cancel()
                return None
        try:
            outcome: Outcome = future.result()
        except LostError as error:
            raise InputError(f"A fit was lost on {MAX_ATTEMPTS} workers: {error}.") from None
        return outcome
