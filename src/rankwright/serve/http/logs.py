"""The log: one JSON object per line on standard error, never with the contents of a request."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import msgspec

_encode = msgspec.json.Encoder(order=None).encode


def log(event: str, *, level: str = "info", **facts: Any) -> None:
    """Write one line; facts that are None are left out."""
    given = {name: value for name, value in facts.items() if value is not None}
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, "event": event, **given}
    try:
        sys.stderr.write(_encode(line).decode() + "\n")
    except (OSError, ValueError):  # a closed log must not stop the service
        return


class ServerLog(logging.Handler):
    """Writes uvicorn's log in our format."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record without its traceback, which may hold documents."""
        log("server", level=record.levelname.lower(), message=record.getMessage().strip())
