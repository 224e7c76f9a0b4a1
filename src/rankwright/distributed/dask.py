"""Workers as actors of a Dask cluster."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.wording import counted
from rankwright.distributed.engine import (
    MAX_ATTEMPTS,
    TIMEOUT,
    Actor,
    Call,
    Engine,
    Host,
    LostError,
    checked_workers,
    connected,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

SECONDS_PER_LOOK = 0.5  # at the cluster's list of workers, while a call has no answer


@dataclass(eq=False)
class _Resident:
    """An actor of Dask: its worker's address, its future, the actor once it is known, and its signs of life."""

    address: str
    future: Any
    host: Any = None
    last_heartbeat: float = 0.0  # by the scheduler's clock
    last_sign: float = 0.0  # by ours

    def look(self, workers: dict[str, Any]) -> None:
        """Look at what the scheduler knows of the worker."""
        if self.address not in workers:
            raise LostError(f"its worker {self.address} has left the cluster")
        heartbeat = workers[self.address]["last_seen"]
        if heartbeat != self.last_heartbeat:
            self.last_heartbeat, self.last_sign = heartbeat, monotonic()


class Dask(Engine):
    """Workers on a Dask cluster, one per worker process of Dask; needs the package distributed.

    Parameters
    ----------
    client
        A `distributed.Client`, or the address of a scheduler such as `"tcp://10.0.0.1:8786"`; None: a cluster of
        this machine, which ends with the engine. A client with TLS is made with `Client(address,
        security=Security(...))`, and one whose calls need not pass through the scheduler, which is faster, with
        `Client(address, direct_to_workers=True)`.
    workers
        Number of workers at most; None: as many as the cluster has.
    timeout
        Seconds after which a silent cluster or worker counts as lost.

    Examples
    --------
    >>> engine = rw.distributed.Dask(workers=2)  # doctest: +SKIP
    >>> rw.LambdaMART().fit("train.binned", cluster=engine)  # doctest: +SKIP
    """

    def __init__(self, client: Any = None, *, workers: int | None = None, timeout: float = TIMEOUT) -> None:
        super().__init__(timeout)
        try:
            distributed = import_module("distributed")
        except ModuleNotFoundError:
            raise MissingPackageError("Dask needs distributed: pip install 'rankwright[dask]'.") from None
        self._wanted = None if workers is None else checked_workers(workers)
        self._suspects: set[str] = set()  # workers that did not answer
        self._residents: Counter[str] = Counter()  # actors per worker
        self._own: list[Any] = []
        self._n_local = 0  # workers of our own cluster
        if isinstance(client, distributed.Client):
            self._client = client
            return
        target = client
        if client is None:
            target = distributed.LocalCluster(n_workers=self._wanted, threads_per_worker=1, dashboard_address=":0")
            self._own, self._n_local = [target], len(target.workers)
        try:
            self._client = connected(
                lambda: distributed.Client(
                    target, timeout=timeout, set_as_default=False, direct_to_workers=client is None
                ),
                timeout,
            )
        except TimeoutError:
            raise InputError(f"Nothing at {client} answered as Dask does within {timeout:g} s.") from None
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"The Dask scheduler at {client} does not answer: {error}") from None
        self._own.insert(0, self._client)

    @property
    def n_workers(self) -> int:
        present = max(1, len(self._addresses()))
        return present if self._wanted is None else min(self._wanted, present)

    def start(self, make: Callable[[], object], n: int) -> list[Actor]:
        self._refill()
        end = monotonic() + self.timeout
        while (ready := len(self._addresses())) < n:
            if monotonic() > end:
                raise InputError(f"Dask had {ready} of {counted(n, 'worker')} within {self.timeout:g} s.")
            sleep(SECONDS_PER_LOOK)
            self._refill()
        return [self._start(number, make) for number in range(n)]

    def call(self, actor: Actor, method: str, *arguments: Any) -> Call:
        return self._later(actor, self._ask(actor, method, arguments))

    def last_sign(self, actor: Actor) -> float:
        last: float = actor.handle.last_sign
        return last

    def end(self, actors: Iterable[Actor]) -> None:
        for actor in actors:
            self._residents[actor.handle.address] -= 1
            actor.handle.host = None
            actor.handle.future.release()

    def restart(self, actor: Actor) -> Actor:
        self._suspects.add(actor.handle.address)
        self.end([actor])
        self._refill()
        return self._start(actor.number, actor.make)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Call:
        trusted = [address for address in self._addresses() if address not in self._suspects]
        future = self._client.submit(
            _run_packed,
            function,
            pickle.dumps(arguments),
            pure=False,
            retries=MAX_ATTEMPTS - 1,
            workers=trusted or None,
            allow_other_workers=bool(trusted),
        )
        return self._later(None, _unpacked(future))

    def close(self) -> None:
        for resource in self._own:
            resource.close()
        self._own = []

    def _refill(self) -> None:
        """Replace workers of a cluster of this machine that Dask, some time after their loss, has given up."""
        for cluster in self._own[1:]:
            cluster.scale(self._n_local)

    def _addresses(self) -> list[str]:
        """Return the addresses of the cluster's workers."""
        return sorted(self._client.sync(self._known))

    async def _known(self) -> dict[str, Any]:
        info = await self._client.scheduler.identity(n_workers=-1)
        return dict(info["workers"])

    def _start(self, number: int, make: Callable[[], object]) -> Actor:
        end = monotonic() + self.timeout
        while not (addresses := self._addresses()):
            if monotonic() > end:
                raise InputError(f"Dask has no worker left, and none joined within {self.timeout:g} s.")
            sleep(SECONDS_PER_LOOK)
            self._refill()
        address = min(addresses, key=lambda known: (known in self._suspects, self._residents[known], known))
        self._residents[address] += 1
        future = self._client.submit(_PackedHost, make, actor=True, workers=[address], pure=False)
        return Actor(number, make, _Resident(address, future))

    async def _ask(self, actor: Actor, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return the answer of an actor; look meanwhile whether its worker is still there."""
        resident: _Resident = actor.handle
        asked = asyncio.ensure_future(self._answer(resident, method, arguments))
        try:
            while not (await asyncio.wait([asked], timeout=SECONDS_PER_LOOK))[0]:
                resident.look(await self._known())
        except OSError as error:
            raise LostError(f"the scheduler cannot be reached: {error}") from None
        finally:
            asked.cancel()  # if it is not done
        return asked.result()

    async def _answer(self, resident: _Resident, method: str, arguments: tuple[Any, ...]) -> Any:
        try:
            with self._client.as_current():  # the client that a host asks for
                resident.host = resident.host or await resident.future
                return pickle.loads(await resident.host.call_packed(method, pickle.dumps(arguments)))
        except (OSError, asyncio.CancelledError, RuntimeError) as error:
            raise LostError(f"its worker cannot be reached: {error}") from None

    def _later(self, actor: Actor | None, answer: Coroutine[Any, Any, Any]) -> Call:
        return Call(actor, asyncio.run_coroutine_threadsafe(answer, self._client.loop.asyncio_loop))


class _PackedHost(Host):
    """A host whose messages are bytes: arrays that Dask sends may start at any byte, which kernels refuse."""

    def call_packed(self, method: str, arguments: bytes) -> bytes:
        return pickle.dumps(self.call(method, pickle.loads(arguments)))


def _run_packed(function: Callable[..., Any], arguments: bytes) -> bytes:
    return pickle.dumps(function(*pickle.loads(arguments)))


async def _unpacked(future: Any) -> Any:
    try:
        return pickle.loads(await future._result())
    except import_module("distributed").KilledWorker as error:
        raise LostError(f"its workers ended, the last of them {error.last_worker.address}") from None
