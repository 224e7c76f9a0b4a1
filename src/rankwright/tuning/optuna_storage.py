"""Studies of Optuna: kept in memory, or in a file from which a later search resumes."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.custom_code import identity
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.files import lock_file
from rankwright.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from io import FileIO

    from optuna.study import Study

    from rankwright.rankers.parameters.search_space import Space
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.judging_queries import JudgingPlan

CHECKSUM = b'{"checksum":"'  # the beginning of each entry
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
    with _locked(path) as stream:
        study = _load(path, _Journal(path, stream))
        if NAME not in study.user_attrs:  # new, or killed at once
            study.set_user_attr(NAME, dict(purpose))
        _require_same(path, purpose, study.user_attrs[NAME])
        yield study


def _load(path: Path, journal: _Journal) -> Study:
    """Return the study of a journal; whatever Optuna cannot read is refused."""
    optuna = import_optuna()
    is_new = not journal.entries
    try:
        storage = optuna.storages.JournalStorage(journal)
        if is_new:
            optuna.create_study(study_name=NAME, storage=storage, direction="maximize")
        study: Study = optuna.load_study(study_name=NAME, storage=storage)
    except InputError:
        raise
    except Exception:  # entries that are no study of this version may raise anything
        raise InputError(_not_ours(path)) from None
    return study


class _Journal:
    """A backend of Optuna: a file of one JSON object per line, which Optuna's own backend can read too.

    Each entry begins with a checksum of itself and of the entries before it, so that any damage is noticed. The
    last line may lack its end, if the process that wrote it was killed: it is removed.
    """

    def __init__(self, path: Path, stream: FileIO) -> None:
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if not whole and not CHECKSUM.startswith(content[: len(CHECKSUM)]):
            raise InputError(_not_ours(path))
        self._path, self._stream, self._checksum = path, stream, b""
        self.entries = [self._read(line) for line in whole.split(b"\n")[:-1]]
        stream.truncate(len(whole))

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        """Return all entries from this number on."""
        return self.entries[log_number_from:]

    def append_logs(self, logs: Sequence[dict[str, Any]]) -> None:
        """Write entries to the file."""
        for entry in logs:
            line = json.dumps(entry, separators=(",", ":")).encode()[1:]
            checksum = self._next_checksum(line)
            self._write(CHECKSUM + checksum + b'",' + line + b"\n")
            self._checksum = checksum
            self.entries.append(json.loads(b"{" + line))

    def _write(self, line: bytes) -> None:
        size = os.fstat(self._stream.fileno()).st_size
        try:
            while line:
                line = line[self._stream.write(line) :]
            os.fsync(self._stream.fileno())
        except OSError as error:
            self._stream.truncate(size)  # or else the next line would be joined to a part of this one
            raise InputError(f"The storage file {self._path} cannot be written: {error.strerror}.") from None

    def _read(self, line: bytes) -> dict[str, Any]:
        checksum, _, rest = line.removeprefix(CHECKSUM).partition(b'",')
        self._checksum = self._next_checksum(rest)
        if not line.startswith(CHECKSUM) or checksum != self._checksum:
            raise InputError(_not_ours(self._path))
        return dict(json.loads(b"{" + rest))

    def _next_checksum(self, line: bytes) -> bytes:
        return hashlib.sha256(self._checksum + line).hexdigest()[:16].encode()


@contextmanager
def _locked(path: Path) -> Iterator[FileIO]:
    """Open the file, made if there is none, and keep other processes from it."""
    if path.exists() and not path.is_file():
        raise InputError(f"The storage file {path} is a folder or a device; name a file.")
    try:
        stream = path.open("ab", buffering=0)
    except FileNotFoundError:
        raise InputError(f"The storage file {path} cannot be written: there is no folder {path.parent}.") from None
    except OSError as error:
        raise InputError(f"The storage file {path} cannot be written: {error.strerror}.") from None
    with stream:
        try:
            lock_file(stream.fileno(), wait=False)
        except BlockingIOError:
            raise InputError(f"The storage file {path} is in use by another search.") from None
        yield stream


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
