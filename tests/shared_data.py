"""Where the real data lie that some tests read; they are too large for the repository."""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
SHARED = Path(os.environ.get("RANKWRIGHT_DATA", _BESIDE))

_skipped_without = pytest.mark.skipif(
    not (SHARED / "letor").is_dir(),
    reason=f"real data: no folder {SHARED / 'letor'}; set RANKWRIGHT_DATA to the folder that holds letor/",
)


def needs_shared_data(test):
    """Skip the test where the real data are not there, and in `make quick`."""
    return pytest.mark.slow(_skipped_without(test))


CRANFIELD = SHARED / "text" / "cranfield"

needs_cranfield = pytest.mark.skipif(
    not CRANFIELD.is_dir(),
    reason=f"real data: no folder {CRANFIELD}; set RANKWRIGHT_DATA to the folder that holds text/cranfield",
)
"""Skip the test where Cranfield is not there; it is small enough for `make quick`."""
