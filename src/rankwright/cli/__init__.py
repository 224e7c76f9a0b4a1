"""The command line: one file per verb, and the only place that prints."""

from rankwright.cli.app import main

__all__ = ["main"]
