"""The file of a judging session: one JSON object per line, only ever appended, on disk before it is confirmed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.files import lock_file, sync_folder
from rankwright.judgements.grade_files import object_entry, read_objects

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.judgements.given_grade import GivenGrade

TICK = timedelta(milliseconds=1)


@dataclass(frozen=True)
class JournalLine:
    """What a judge did with a document: gave a grade, skipped it, or neither, which withdraws what was before."""

    judge: str
    query: str
    document: str
    grade: float | None = None
    skipped: bool = False
    note: str = ""
    where: str = field(default="", compare=False)  # the line of the file that it was read from


class Journal:
    """A file of judgements that this process alone writes."""

    def __init__(self, path: Path) -> None:
        if path.suffix != ".jsonl":
            raise InputError(f"The name of a file of judgements ends with .jsonl, not {path.name}.")
        self.path = path
        self.cut_short = 0
        """Bytes of a last line that was never confirmed, and is removed."""
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None
        try:
            lock_file(self._descriptor, wait=False)
        except OSError:
            os.close(self._descriptor)
            raise InputError(f"Another process writes to {path}.") from None
        try:
            self.lines = self._read()
        except InputError:
            os.close(self._descriptor)
            raise
        sync_folder(path.resolve().parent)

    def _read(self) -> list[JournalLine]:
        """Return the whole lines of the file; the start of a line that was being written is removed.

        Nothing is changed before all other lines are read, so that a file of something else stays as it is.
        """
        objects, last, is_whole = read_objects(self.path)
        entries = [object_entry(where, fields) for where, fields in objects]
        if is_whole:
            os.write(self._descriptor, b"\n")
        elif last:
            self.cut_short = len(last)
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size - len(last))
        times = [entry.time for entry in entries if entry.time is not None]
        self._last = datetime.fromtimestamp(max(times, default=0.0), UTC)
        return [_line(entry) for entry in entries]

    def append(self, line: JournalLine) -> None:
        """Write a line, and return when it is on disk; if that fails, nothing of it stays in the file."""
        record: dict[str, Any] = {
            "query": line.query,
            "document": line.document,
            "judge": line.judge,
            "grade": _written(line.grade),
            "time": self._now().isoformat(timespec="milliseconds"),
        }
        record |= {"skipped": True} if line.skipped else {}
        record |= {"note": line.note} if line.note else {}
        text = (json.dumps(record, ensure_ascii=False) + "\n").encode()
        before = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(text):
                written += os.write(self._descriptor, text[written:])
            os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, before)
            raise

    def _now(self) -> datetime:
        """Return the time, later than that of any line: the last line counts, even if the clock was set back."""
        self._last = max(datetime.now(UTC), self._last + TICK)
        return self._last

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def _written(grade: float | None) -> float | int | None:
    """Return a grade as it is written: 2, not 2.0."""
    return int(grade) if grade is not None and float(grade).is_integer() else grade


def _line(entry: GivenGrade) -> JournalLine:
    return JournalLine(
        entry.judge, entry.query, entry.document, entry.grade, entry.skipped, entry.note, entry.where
    )
