"""Workers as actors of a Ray cluster."""

from __future__ import annotations

import re
import socket
from concurrent.futures import Future
from contextlib import suppress
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.resources import available_threads
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
    from collections.abc import Callable, Iterable

TOKEN_REMEDY = "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH to those of the cluster"
PINGS = "pings"  # are answered while a call runs
QUIET = {"log_to_driver": False, "logging_level": "error"}
# Sums of leaves travel with the answer: by way of the object store a request takes twice as long.
SETTINGS = {"max_direct_call_object_size": 1 << 22}


class Ray(Engine):
    """Workers on a Ray cluster; needs ray.

    A cluster that asks for a token reads it from RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, with RAY_AUTH_MODE=token,
    on every machine and here.

    Parameters
    ----------
    address
        Of the cluster, such as `"10.0.0.1:6379"`, `"ray://10.0.0.1:10001"` or `"auto"`; None: the cluster that
        this process is connected to, or else a new one of this machine, which ends with the engine.
    workers
        Number of workers; None: one per `cpus` that the cluster has.
    cpus
        Cores that each worker asks Ray for.
    timeout
        Seconds after which a silent cluster or worker counts as lost.

    Examples
    --------
    >>> engine = rw.distributed.Ray(workers=2)  # doctest: +SKIP
    >>> rw.LambdaMART().fit("train.binned", cluster=engine)  # doctest: +SKIP
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int | None = None,
        cpus: float = 1,
        timeout: float = TIMEOUT,
    ) -> None:
        super().__init__(timeout)
        try:
            self._ray = import_module("ray")
        except ModuleNotFoundError:
            raise MissingPackageError("Ray needs the package ray: pip install 'rankwright[ray]'.") from None
        self._wanted = None if workers is None else checked_workers(workers)
        self._cpus = cpus
        self._handles: set[Any] = set()
        self._pings: dict[Actor, Any] = {}
        self._signs: dict[Actor, float] = {}
        self._is_ours = not self._ray.is_initialized()
        if self._is_ours:
            self._connect(address)

    @property
    def n_workers(self) -> int:
        return self._wanted or max(1, int(self._ray.cluster_resources().get("CPU", 1) / self._cpus))

    def start(self, make: Callable[[], object], n: int) -> list[Actor]:
        actors = [self._start(number, make) for number in range(n)]
        ready, waiting = self._ray.wait(
            [actor.handle.ready.remote() for actor in actors], num_returns=n, timeout=self.timeout
        )
        if waiting:
            self.end(actors)
            raise InputError(
                f"Ray started {len(ready)} of {counted(n, 'worker')} within {self.timeout:g} s: each asks for "
                f"{self._cpus:g} of its cores."
            )
        return actors

    def call(self, actor: Actor, method: str, *arguments: Any) -> Call:
        return Call(actor, self._answer(actor.handle.call.remote(method, arguments)))

    def last_sign(self, actor: Actor) -> float:
        with suppress(self._ray.exceptions.RayError, ConnectionError):  # no sign
            if actor in self._pings and self._ray.wait([self._pings[actor]], timeout=0)[0]:
                self._ray.get(self._pings.pop(actor))
                self._signs[actor] = monotonic()
            if actor not in self._pings:
                self._pings[actor] = actor.handle.ready.options(concurrency_group=PINGS).remote()
        return self._signs.get(actor, 0.0)

    def end(self, actors: Iterable[Actor]) -> None:
        for actor in actors:
            self._pings.pop(actor, None)
            self._signs.pop(actor, None)
            self._handles.discard(actor.handle)
            self._ray.kill(actor.handle, no_restart=True)

    def restart(self, actor: Actor) -> Actor:
        self.end([actor])
        new = self._start(actor.number, actor.make)
        if not self._ray.wait([new.handle.ready.remote()], timeout=self.timeout)[0]:
            self.end([new])
            raise InputError(f"Ray had no room for another worker within {self.timeout:g} s.")
        return new

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Call:
        remote = self._ray.remote(_call).options(num_cpus=self._cpus, max_retries=MAX_ATTEMPTS - 1)
        return Call(None, self._answer(remote.remote(function, arguments)))

    def close(self) -> None:
        if self._is_ours:
            self._ray.shutdown()
        else:
            for handle in self._handles:
                self._ray.kill(handle, no_restart=True)
        self._handles.clear()

    def _start(self, number: int, make: Callable[[], object]) -> Actor:
        remote = self._ray.remote(num_cpus=self._cpus, max_restarts=0, concurrency_groups={PINGS: 1})(Host)
        handle = remote.remote(make)
        self._handles.add(handle)
        return Actor(number, make, handle)

    def _answer(self, reference: Any) -> Future[Any]:
        """Return the future of an answer, whose failure is what the method raised or a loss."""
        answer: Future[Any] = Future()

        def pass_on(arrived: Future[Any]) -> None:
            error = arrived.exception()
            if error is None:
                answer.set_result(arrived.result())
            elif isinstance(error, self._ray.exceptions.RayTaskError):
                answer.set_exception(error.cause)
            elif isinstance(error, self._ray.exceptions.RayError):
                answer.set_exception(LostError(f"its process ended ({type(error).__name__})"))
            else:
                answer.set_exception(error)

        reference.future().add_done_callback(pass_on)
        return answer

    def _connect(self, address: str | None) -> None:
        """Connect to a cluster, or start one."""
        if address is None:
            self._start_cluster()
            return
        _require_listener(address, self.timeout)
        try:
            connected(lambda: self._ray.init(address, **QUIET), self.timeout)
        except TimeoutError:
            raise InputError(
                f"Nothing at {address} answered as Ray does within {self.timeout:g} s; if it asks for a token, "
                f"{TOKEN_REMEDY}."
            ) from None
        except self._ray.exceptions.AuthenticationError:
            raise InputError(f"The Ray cluster at {address} asks for another token: {TOKEN_REMEDY}.") from None
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"The Ray cluster at {address} cannot be used: {reason}") from None

    def _start_cluster(self) -> None:
        """Start a cluster of this machine; again where Ray waited for it in vain, as on a busy machine."""
        cores = max(available_threads(), int(self._cpus * (self._wanted or 1)))
        end = monotonic() + self.timeout
        while not self._ray.is_initialized():
            try:
                self._ray.init(num_cpus=cores, include_dashboard=False, _system_config=SETTINGS, **QUIET)
            except Exception as error:
                waited = type(error) is Exception or isinstance(error, TimeoutError | RuntimeError)
                if not waited or monotonic() > end:
                    within = f" within {self.timeout:g} s" if waited else ""
                    raise InputError(f"Ray did not start{within}: {str(error).strip()}") from None


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


def _require_listener(address: str, timeout: float) -> None:
    """Refuse the address of a cluster at which nothing listens."""
    match = re.fullmatch(r"(?:ray://)?\[?([^/\]]+)\]?:([0-9]+)", address)
    if match is None:
        if address == "auto" or "://" in address:
            return
        raise InputError(f"{address!r} is not an address of Ray, such as '10.0.0.1:6379'.")
    try:
        socket.create_connection((match[1], int(match[2])), timeout).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"There is no Ray cluster at {address}: {error}.") from None
