"""Where the real data lie that some tests read; they are too large for the repository."""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
SHARED = Path(os.environ.get("RANKWRIGHT_DATA", _BESIDE))

needs_shared_data = pytest.mark.skipif(
    not (SHARED / "letor").is_dir(),
    reason=f"real data: no folder {SHARED / 'letor'}; set RANKWRIGHT_DATA to the folder that holds letor/",
)
