"""Studies of Optuna: kept in memory, or in a file from which a later search resumes."""

from __future__ import annotations

import json
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.custom_code import identity
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.files import lock_file
from rankwright.base.version import __version__

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from optuna.study import Study

    from rankwright.rankers.parameters.search_space import Space
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.judging_queries import JudgingPlan

NAME = "rankwright"  # of the study, and of the attribute that says what it searches


def import_optuna() -> Any:
    """Return the package, or say how to install it."""
    try:
        import optuna
    except ImportError:
        raise MissingPackageError(
            "Searching for a setting needs Optuna: pip install 'rankwright[tune]'; a grid does not."
        ) from None
    return optuna


@contextmanager
def quiet() -> Iterator[None]:
    """Keep log lines and warnings of Optuna, and those of hundreds of fits, from the user.

    The final fit warns about whatever concerns the chosen setting.
    """
    optuna = import_optuna()
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        optuna.logging.set_verbosity(level)


def purpose_of(
    ranker: Ranker, space: Mapping[str, Space], plan: JudgingPlan, protocol: str, **options: Any
) -> dict[str, Any]:
    """Return everything that the results of a search depend on, as JSON values."""
    fixed = {name: value for name, value in ranker.get_params(deep=False).items() if name not in space}
    facts = {
        "rankwright": __version__,
        "data": [plan.final.fingerprint(), *(part.judges.fingerprint() for part in plan.parts)],
        "ranker": identity(type(ranker), ranker.name),
        "metric": identity(ranker.metric, str(ranker.metric)),
        "settings": {
            name: identity(value, repr(value)) for name, value in fixed.items() if name not in ("n_jobs", "metric")
        },
        "space": {name: str(range_) for name, range_ in space.items()},
        "protocol": protocol,
        **options,
    }
    return dict(json.loads(json.dumps(facts)))


@contextmanager
def open_study(file: str | os.PathLike[str] | None, purpose: Mapping[str, Any]) -> Iterator[Study]:
    """Yield the study with this purpose; a file that holds another one is refused.

    The file is locked until the block ends, also if the process is killed.
    """
    optuna = import_optuna()
    if file is None:
        yield optuna.create_study(study_name=NAME, direction="maximize")
        return
    path = Path(file)
    with _locked(path):
        is_new = _checked_lines(path)
        study = _load(path, is_new=is_new)
        if NAME not in study.user_attrs:  # new, or killed at once
            study.set_user_attr(NAME, dict(purpose))
        _require_same(path, purpose, study.user_attrs[NAME])
        yield study


def _load(path: Path, *, is_new: bool) -> Study:
    """Return the study of a file; whatever Optuna cannot read is refused."""
    optuna = import_optuna()
    try:
        journal = optuna.storages.journal.JournalFileBackend(str(path), lock_obj=_NoLock())
        storage = optuna.storages.JournalStorage(journal)
        if is_new:
            optuna.create_study(study_name=NAME, storage=storage, direction="maximize")
        study: Study = optuna.load_study(study_name=NAME, storage=storage)
    except Exception:  # a damaged journal may raise anything
        raise InputError(_not_ours(path)) from None
    return study


class _NoLock:
    """Lets Optuna write without a lock of its own: the file is locked already.

    Optuna's lock is a file that a killed process leaves behind, and the next one waits for.
    """

    def acquire(self) -> bool:
        """Do nothing."""
        return True

    def release(self) -> None:
        """Do nothing."""


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Make the file if there is none, and keep other processes from it."""
    try:
        with path.open("ab") as file:
            try:
                lock_file(file.fileno(), wait=False)
            except BlockingIOError:
                raise InputError(f"The storage file {path} is in use by another search.") from None
            yield
    except IsADirectoryError:
        raise InputError(f"The storage file {path} is a folder; name a file.") from None
    except FileNotFoundError:
        raise InputError(f"The storage file {path} cannot be written: there is no folder {path.parent}.") from None
    except PermissionError as error:
        raise InputError(f"The storage file {path} cannot be written: {error.strerror}.") from None


def _checked_lines(path: Path) -> bool:
    """Refuse a file that is no journal; return whether it is empty.

    A last line without its end, which a killed process may leave, is removed: the next would be joined to it.
    """
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if not all(map(_is_entry, whole.splitlines())) or (not whole and not b'{"op_code"'.startswith(content[:10])):
        raise InputError(_not_ours(path))
    if len(whole) < len(content):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return not whole


def _is_entry(line: bytes) -> bool:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and "op_code" in entry


def _not_ours(path: Path) -> str:
    return f"{path} is not the storage file of a search, or is damaged: choose another file, or delete this one."


def _require_same(path: Path, wanted: Mapping[str, Any], stored: Any) -> None:
    if not isinstance(stored, dict):
        raise InputError(_not_ours(path))
    different = [name for name in {**wanted, **stored} if name not in stored or stored[name] != wanted.get(name)]
    if different:
        raise InputError(
            f"The storage file {path} belongs to a search that differs in {' and '.join(different)}: "
            "choose another file, or delete this one."
        )


def parameter_importances(study: Study) -> dict[str, float]:
    """Return the fraction of the differences between trials that each parameter explains, the highest first."""
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances

    with quiet():
        return dict(get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=0)))
