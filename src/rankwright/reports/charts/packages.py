"""The optional packages that draw, imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rankwright.base.errors import MissingPackageError


def altair() -> Any:
    """Return the package altair, which makes specifications."""
    return _imported("altair", "A chart needs altair")


def vl_convert() -> Any:
    """Return the package vl_convert, which draws specifications without a browser."""
    return _imported("vl_convert", "A picture of a chart needs vl-convert-python")


def _imported(name: str, reason: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackageError(f"{reason}; run pip install 'rankwright[report]'.") from None
