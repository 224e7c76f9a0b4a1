"""An engine whose actors are objects of this process, which are lost when a test says so."""

from __future__ import annotations

from concurrent.futures import Future

from rankwright.distributed.engine import Actor, Call, Engine, Host, LostError


class InProcess(Engine):
    """`lose` says of each call, by its number, whether its actor is lost before it answers."""

    def __init__(self, workers, *, lose=lambda _call: False, restarts=True):
        super().__init__()
        self.workers, self.restarts, self._lose = workers, restarts, lose
        self.n_calls = self.n_starts = 0

    @property
    def n_workers(self):
        return self.workers

    def start(self, make, n):
        self.n_starts += 1
        return [Actor(number, make, Host(make)) for number in range(n)]

    def call(self, actor, method, *arguments):
        future = Future()
        self.n_calls += 1
        if self._lose(self.n_calls):
            future.set_exception(LostError("it was lost"))
        else:
            try:
                future.set_result(actor.handle.call(method, arguments))
            except Exception as error:
                future.set_exception(error)
        return Call(actor, future)

    def last_sign(self, actor):
        raise NotImplementedError  # every call is answered or lost at once

    def restart(self, actor):
        if not self.restarts:
            raise OSError("no machine is left")
        return Actor(actor.number, actor.make, Host(actor.make))

    def end(self, actors):
        pass

    def submit(self, function, *arguments):
        raise NotImplementedError

    def close(self):
        pass
