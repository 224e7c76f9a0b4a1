"""Worker processes; tests/serve/http/test_server.py runs them."""

import os

import pytest

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
from rankwright.base.errors import InputError
from rankwright.serve.http.workers import serve
from rankwright.serve.settings import ModelSource, Settings


def test_a_system_without_fork_is_refused(monkeypatch):
    monkeypatch.delattr(os, "fork")
    with pytest.raises(InputError, match="POSIX"):
        serve(Settings((ModelSource.parse("model.rw"),)))
