"""Runs the experiments of a paper: every system on every trial, several at once, each kept when it is done."""

from __future__ import annotations

import time
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.threads import one_thread_for_libraries, resolve_threads
from rankwright.papers.framework.cranfield import CRANFIELD, FILES, require_cranfield
from rankwright.papers.framework.experiment import Absent, Setup
from rankwright.papers.framework.results import Results, counts, rows_of
from rankwright.papers.framework.sources import contents, find_collections, fold_files
from rankwright.papers.framework.task_folder import SECONDS, Work, read_outcome, write_outcome
from rankwright.training.workers import run_all
from rankwright.tuning.tune import require_workers

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.papers.framework.experiment import Experiment, Paper, Trial
    from rankwright.papers.framework.results import Row
    from rankwright.papers.framework.task_folder import Outcome

TRIALS_IN_MEMORY = 3
FIT_SECONDS = "fit seconds"


class Done(NamedTuple):
    """An experiment with its results, None without data, and its rows of the table."""

    experiment: Experiment
    results: Results | None
    rows: Sequence[Row]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What the experiments of a paper gave.

    Parameters
    ----------
    paper, quick
        The paper, and whether this was the quick version.
    done
        Every experiment with its results.
    seconds
        The processor time of all fits and measurements together, those of earlier runs included.
    """

    paper: Paper
    quick: bool
    done: Sequence[Done]
    seconds: float

    @property
    def rows(self) -> list[Row]:
        """One row per published number and claim."""
        return [row for one in self.done for row in one.rows]

    def summary(self) -> str:
        """Return how many rows were reached, in a sentence; another one if this was the quick version."""
        found = counts(self.rows)
        total = sum(found.values())
        parts = ", ".join(f"{n} {state}" for state, n in found.items())
        quick = " Quick version: with so few folds, queries and rounds this says little." if self.quick else ""
        return f"{total} published numbers and claims of {self.paper.authors}: {parts}.{quick}"

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values."""
        return {
            "paper": self.paper.name,
            "title": self.paper.title,
            "authors": self.paper.authors,
            "quick": self.quick,
            "seconds": self.seconds,
            "rows": [row.to_dict() for row in self.rows],
        }


class Task(NamedTuple):
    """One system of an experiment on one trial, and the file that keeps what is measured."""

    experiment: Experiment
    system: str
    trial: str
    path: Path


def reproduce(
    paper: Paper,
    data: str | os.PathLike[str] | None = None,
    *,
    work: str | os.PathLike[str],
    cranfield: str | os.PathLike[str] | None = None,
    quick: bool = False,
    workers: int | None = None,
    on_start: Callable[[int, int], None] = lambda _total, _kept: None,
    on_task: Callable[[str], None] = lambda _: None,
) -> Reproduction:
    """Run the experiments of a paper.

    Parameters
    ----------
    paper
        The paper, as `find_paper` returns it.
    data
        A folder with collections of LETOR, such as OHSUMED/Fold1. Experiments without data are left out, and
        their rows say so; a paper none of whose experiments has data is an error.
    work
        The folder that keeps what is done; a run that was killed goes on from there.
    cranfield
        The folder of the Cranfield collection: cran.all.1400, cran.qry and cranqrel.
    quick
        Whether to run fewer folds, queries and rounds, to see that everything works.
    workers
        Number of fits at once; None: one per thread.
    on_start, on_task
        Called with the number of tasks and of those already done, and with the name of each task when it is done.
    """
    require_workers(workers)
    setup = Setup(_folders(data, cranfield), quick)
    experiments = paper.experiments(setup)
    _require_data(paper, experiments)
    folder, read = Work(Path(work)), _contents(setup.folders)
    tasks = [task for one in experiments for task in _tasks(folder, one, read, quick=quick)]
    kept = {task.path: read_outcome(task.path) for task in tasks}
    outcomes = {path: outcome for path, outcome in kept.items() if outcome is not None}
    missing = [task for task in tasks if task.path not in outcomes]
    on_start(len(tasks), len(outcomes))
    trials = _Trials()

    def run(task: Task, _on_round: Any) -> Outcome:
        outcome = _measured(task, trials)
        write_outcome(task.path, outcome)
        on_task(f"{task.experiment.name}: {task.system}, {task.trial}")
        return outcome

    with warnings.catch_warnings(), one_thread_for_libraries():
        warnings.simplefilter("ignore")  # papers print settings that the rankers advise against
        found = run_all(run, missing, workers=workers or resolve_threads(None), on_done=lambda: None)
    outcomes |= {task.path: outcome for task, outcome in zip(missing, found, strict=True)}
    done = [_done(one, [task for task in tasks if task.experiment is one], outcomes) for one in experiments]
    seconds = sum(float(outcome["", SECONDS][0]) for outcome in outcomes.values())
    return Reproduction(paper, quick, done, seconds)


def _folders(data: str | os.PathLike[str] | None, cranfield: str | os.PathLike[str] | None) -> dict[str, Path]:
    """Return the folders of the collections by name."""
    folders = find_collections(None if data is None else Path(data))
    if cranfield is None:
        return folders
    require_cranfield(Path(cranfield))
    return folders | {CRANFIELD: Path(cranfield)}


def _require_data(paper: Paper, experiments: Sequence[Experiment]) -> None:
    sources = [one.source for one in experiments]
    if all(isinstance(one, Absent) for one in sources):
        wanted = " or ".join(dict.fromkeys(one.title for one in sources))
        raise InputError(f"{paper.name} needs data: give --data a folder that has {wanted}.")


def _contents(folders: Mapping[str, Path]) -> dict[str, str]:
    """Return hashes of the collections' files, by name."""
    return {
        name: contents([folder / file for file in FILES] if name == CRANFIELD else fold_files(folder))
        for name, folder in folders.items()
    }


def _tasks(folder: Work, experiment: Experiment, read: Mapping[str, str], *, quick: bool) -> list[Task]:
    """Return a task for every trial and system, trial by trial, so that few trials are in memory at a time.

    `read` has hashes of the files of collections: results of other data are not taken for those of these.
    """
    files = read.get(experiment.source.title, "")
    return [
        Task(
            experiment,
            name,
            trial,
            folder.path(
                experiment.name,
                name,
                trial,
                settings=repr((quick, experiment.source, system, tuple(experiment.measures))) + files,
            ),
        )
        for trial in experiment.source.trials()
        for name, system in experiment.systems.items()
    ]


def _measured(task: Task, trials: _Trials) -> Outcome:
    """Fit a system on a trial, and measure all its models."""
    trial = trials.get(task.experiment, task.trial)
    started = time.thread_time()
    fitted = task.experiment.systems[task.system](trial, 1)
    fit_seconds = np.array([time.thread_time() - started])
    models = fitted if isinstance(fitted, dict) else {task.system: fitted}
    outcome: Outcome = {}
    for name, model in models.items():
        outcome[name, FIT_SECONDS] = fit_seconds  # of all models that were fitted together
        for measure in task.experiment.measures:
            outcome |= {(name, key): values for key, values in measure(model, trial, 1).items()}
    outcome["", SECONDS] = np.array([time.thread_time() - started])
    return outcome


def _done(experiment: Experiment, tasks: Sequence[Task], outcomes: dict[Path, Outcome]) -> Done:
    results = None
    if tasks:
        arrays = {
            (model, measured, task.trial): values
            for task in tasks
            for (model, measured), values in outcomes[task.path].items()
            if model
        }
        results = Results(tuple(experiment.source.trials()), arrays)
    return Done(experiment, results, rows_of(experiment, results))


class _Trials:
    """Trials in memory: the ones that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], Trial] = OrderedDict()
        self._lock = Lock()

    def get(self, experiment: Experiment, name: str) -> Trial:
        """Return a trial; read or made once, however many systems wait for it."""
        key = (repr(experiment.source), name)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = experiment.source.trial(name)
            self._kept.move_to_end(key)
            while len(self._kept) > TRIALS_IN_MEMORY:
                self._kept.popitem(last=False)
            return self._kept[key]
