"""Where the real data lie, for tests that need them and are skipped, saying so, where they are absent."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("RANKWRIGHT_DATA") or Path(__file__).parents[2] / "shared" / "data")

needs_shared_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason=f"real data not found at {SHARED}; set RANKWRIGHT_DATA to their folder"
)
