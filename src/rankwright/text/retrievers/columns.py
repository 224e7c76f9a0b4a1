"""Names of the features of several retrievers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SCORE, RANK, FUSION = "retrieval score", "retrieval rank", "fusion"


def score_columns(names: Sequence[str]) -> list[str]:
    """Return the names of features that are scores of retrievers."""
    return [name for name in names if name.endswith(f": {SCORE}")]
