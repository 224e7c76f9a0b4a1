"""Runs the experiments of a paper: every system on every trial, several at once, each cached when it is done."""

from __future__ import annotations

import json
import time
import warnings
from collections import OrderedDict
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.fit_cache import Encoding, FitCache, read_arrays
from rankwright.base.resources import one_thread_for_libraries, resolve_threads
from rankwright.base.version import __version__
from rankwright.papers.framework.cranfield import CRANFIELD, FILES, require_cranfield
from rankwright.papers.framework.experiment import Absent, Setup
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.measures import FIT_SECONDS
from rankwright.papers.framework.reproduction import Done, Reproduction
from rankwright.papers.framework.rows import rows_of
from rankwright.papers.framework.sources import contents, files_of, find_collections
from rankwright.training.concurrent_fits import run_all
from rankwright.tuning.tune import require_workers

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.papers.framework.experiment import DataTrial, Experiment, Paper

TRIALS_IN_MEMORY = 3
SECONDS = "seconds"

Outcome = dict[tuple[str, str], "Doubles"]
"""What a task measured: arrays by model and name of the measure."""


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
    full: bool = False,
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
        The folder that caches what is done, so that a run that was killed can resume.
    cranfield
        The folder of the Cranfield collection: cran.all.1400, cran.qry and cranqrel.
    quick
        Whether to run fewer folds, queries and rounds, to see that everything works.
    full
        Whether to run with the sizes of the paper, where the usual ones are smaller.
    workers
        Number of fits at once; None: one per thread.
    on_start, on_task
        Called with the number of tasks and of those already done, and with the name of each task when it is done.
    """
    require_workers(workers)
    _require_sizes(paper, quick=quick, full=full)
    setup = Setup(_folders(data, cranfield), quick, full)
    experiments = paper.experiments(setup)
    _require_data(paper, experiments)
    cache, files = FitCache(work), _contents(setup.folders)
    tasks = [task for experiment in experiments for task in _tasks(cache, experiment, files, quick=quick)]
    outcomes = {task.path: kept for task in tasks if (kept := cache.read(task.path, OUTCOMES)) is not None}
    missing = [task for task in tasks if task.path not in outcomes]
    on_start(len(tasks), len(outcomes))
    trials = _Trials()

    def run(task: Task, _on_round: Any) -> Outcome:
        outcome = _measured(task, trials)
        cache.write(outcome, task.path, OUTCOMES)
        on_task(f"{task.experiment.name}: {task.system}, {task.trial}")
        return outcome

    with _quiet():
        measured = run_all(run, missing, workers=workers or resolve_threads(None), on_done=lambda: None)
    outcomes |= {task.path: outcome for task, outcome in zip(missing, measured, strict=True)}
    done = [
        _done(experiment, [task for task in tasks if task.experiment is experiment], outcomes)
        for experiment in experiments
    ]
    return Reproduction(paper, quick, done, sum(float(each["", SECONDS][0]) for each in outcomes.values()))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence advice against settings that papers print, and keep linear algebra to one thread."""
    import scipy.linalg  # noqa: F401  # has its own linear algebra, which can be limited once it is loaded

    with warnings.catch_warnings(), one_thread_for_libraries():
        warnings.simplefilter("ignore")
        yield


def _folders(data: str | os.PathLike[str] | None, cranfield: str | os.PathLike[str] | None) -> dict[str, Path]:
    """Return the folders of the collections by name."""
    folders = find_collections(None if data is None else Path(data))
    if cranfield is None:
        return folders
    require_cranfield(Path(cranfield))
    return folders | {CRANFIELD: Path(cranfield)}


def _require_sizes(paper: Paper, *, quick: bool, full: bool) -> None:
    if quick and full:
        raise InputError("quick and full exclude each other.")
    if full and not paper.reduced:
        raise InputError(f"{paper.name} runs with the sizes of its paper anyway: full changes nothing.")


def _require_data(paper: Paper, experiments: Sequence[Experiment]) -> None:
    sources = [experiment.source for experiment in experiments]
    if all(isinstance(source, Absent) for source in sources):
        wanted = " or ".join(dict.fromkeys(source.title for source in sources))
        raise InputError(f"{paper.name} needs data: give --data a folder that has {wanted}.")


def _contents(folders: Mapping[str, Path]) -> dict[str, str]:
    """Return hashes of the collections' files, by name."""
    return {
        name: contents([folder / file for file in FILES] if name == CRANFIELD else files_of(name, folder))
        for name, folder in folders.items()
    }


def _tasks(cache: FitCache, experiment: Experiment, files: Mapping[str, str], *, quick: bool) -> list[Task]:
    """Return a task for every trial and system, trial by trial, so that few trials are in memory at a time.

    `files` has hashes of the collections' files, so that results of other data are not taken for those of these.
    """
    read = files.get(experiment.source.title, "")
    tasks = []
    for trial in experiment.source.trials():
        for name, system in experiment.systems.items():
            names = (experiment.name, name, trial)
            declared = (quick, experiment.source, system, tuple(experiment.measures))
            path = cache.path(*names, settings=f"{__version__}\n{names}\n{declared!r}{read}").with_suffix(".npz")
            tasks.append(Task(experiment, name, trial, path))
    return tasks


def _read_outcome(path: Path) -> Outcome:
    arrays = read_arrays(path)
    names = json.loads(str(arrays["names"]))
    return {(model, measured): arrays[f"array{n}"] for n, (model, measured) in enumerate(names)}


def _write_outcome(outcome: Outcome, path: Path) -> None:
    arrays: dict[str, Any] = {f"array{n}": np.asarray(values) for n, values in enumerate(outcome.values())}
    with write_whole(path) as file:
        np.savez_compressed(file, names=json.dumps(list(outcome)), **arrays)


OUTCOMES = Encoding(_read_outcome, _write_outcome)


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
        results = Measurements(tuple(experiment.source.trials()), arrays)
    return Done(experiment, results, rows_of(experiment, results))


class _Trials:
    """Trials in memory: the ones that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], DataTrial] = OrderedDict()
        self._lock = Lock()

    def get(self, experiment: Experiment, name: str) -> DataTrial:
        """Return a trial; read or made once, however many systems wait for it."""
        key = (repr(experiment.source), name)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = experiment.source.trial(name)
            self._kept.move_to_end(key)
            while len(self._kept) > TRIALS_IN_MEMORY:
                self._kept.popitem(last=False)
            return self._kept[key]
