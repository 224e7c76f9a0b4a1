"""One fuzzer run in a process of its own, so that a crash, a hang or a hunger for memory is seen and survived."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FUZZERS = (
    "models",
    "data",
    "imports",
    "bindings",
    "index",
    "searcher",
    "collections",
    "work",
    "studies",
    "configs",
)
CASE_SECONDS = 90.0  # in which another tool may have to be started again
START_SECONDS = 120.0
ENOUGH = 20
ACCEPTED, AGREED, REFUSED = "accepted", "accepted with the scores of the tool itself", "refused"
RIGHT = (ACCEPTED, AGREED, REFUSED)
"""The right outcomes of a case; every other outcome is a problem, in words."""


LONGEST_SENTENCE = 600


def problem_of(error):
    """Return what is wrong with the sentence of a refusal; None if nothing is."""
    sentence = str(error)
    bad = len(sentence) > LONGEST_SENTENCE or "\n" in sentence
    return f"a long or broken sentence: {sentence[:300]}" if bad else None


@dataclass(frozen=True)
class Finding:
    """What went wrong in a case, and the command that shows it again."""

    problem: str
    command: str


@dataclass(frozen=True)
class Result:
    """How many cases were run, how many of them ended with each right outcome, and what was found."""

    cases: int
    outcomes: Mapping[str, int]
    findings: Sequence[Finding]

    @property
    def accepted(self):
        """The fraction of cases that got past all checks: where it is small, finding nothing means little."""
        return sum(self.outcomes.get(outcome, 0) for outcome in (ACCEPTED, AGREED)) / max(1, self.cases)


def campaign(name, seed, *, seconds, first=0, cases=None):
    """Run cases until the time is up; of each sort of problem keep one finding.

    A fuzzer's name may be followed by a colon and the part of its cases that it should keep to.
    """
    module = f"fuzz.{name}" if name.partition(":")[0] in FUZZERS else name
    end = time.monotonic() + seconds
    stop = sys.maxsize if cases is None else first + cases
    case, findings, outcomes = first, {}, Counter()

    def report(number, outcome):
        outcomes[outcome if outcome in RIGHT else "a problem"] += 1
        if outcome not in RIGHT:
            _keep(findings, name, seed, number, outcome)

    while case < stop and len(findings) < ENOUGH:
        worker = _Worker(module, seed, case, stop)
        try:
            case = _watch(worker, case, end, report)
        finally:
            worker.close()
        if time.monotonic() > end:
            break
    return Result(case - first, outcomes, list(findings.values()))


def _keep(findings, name, seed, case, problem):
    sort = "".join(letter for letter in problem if not letter.isdigit())[:160]
    command = f"PYTHONPATH=tests python -m fuzz {name} --seed {seed} --first {case} --cases 1"
    findings.setdefault(sort, Finding(f"case {case}: {problem}", command))


def _watch(worker, case, end, report):
    """Follow a worker until it ends, dies or hangs; return the number of the next case."""
    patience = START_SECONDS
    while True:
        message = worker.next_message(min(patience, max(1.0, end - time.monotonic())))
        if message is None and worker.silent_for() < patience:
            if time.monotonic() > end:
                return case
            continue
        if message is None:
            report(case, f"no answer for {patience:g} s: {worker.last_words()}")
            return case + 1
        if "exit" in message:
            if message["exit"]:
                report(case, f"the process ended with code {message['exit']}: {worker.last_words()}")
                return case + 1
            return case
        patience = CASE_SECONDS
        case = message["case"]
        if "outcome" in message:
            report(case, message["outcome"])
            case += 1
            if time.monotonic() > end:
                return case


class _Worker:
    """A process that runs cases and writes one line of JSON when each begins and ends."""

    def __init__(self, name, seed, first, stop):
        arguments = [str(one) for one in (name, seed, first, stop)]
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-")  # a worker that is killed cannot clean up
        self._process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "fuzz.worker", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=Path(__file__).parents[1],
            env=os.environ | {"TMPDIR": self._folder.name},
        )
        self._messages = queue.Queue()
        self._errors = []
        self._heard = time.monotonic()
        self._threads = [threading.Thread(target=self._listen), threading.Thread(target=self._overhear)]
        for thread in reversed(self._threads):
            thread.start()

    def _listen(self):
        for line in self._process.stdout:
            self._heard = time.monotonic()
            self._messages.put(json.loads(line))
        code = self._process.wait()
        self._threads[1].join()  # so that its last words are known
        self._messages.put({"exit": code})

    def _overhear(self):
        for line in self._process.stderr:
            self._errors = [*self._errors, line.strip()][-40:]

    def next_message(self, seconds):
        """Return the next message, or None if there is none in that time."""
        try:
            return self._messages.get(timeout=seconds)
        except queue.Empty:
            return None

    def silent_for(self):
        return time.monotonic() - self._heard

    def last_words(self):
        """Return what the process said of its end: a sanitizer's line, Python's last line, or a fatal error."""
        telling = [line for line in self._errors if "rror" in line or "Sanitizer" in line]
        return (telling or self._errors or ["no word"])[-1]

    def close(self):
        self._process.kill()
        for thread in self._threads:
            thread.join()
        self._process.stdout.close()
        self._process.stderr.close()
        self._folder.cleanup()
