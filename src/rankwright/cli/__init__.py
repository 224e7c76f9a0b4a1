"""The command line: one file per verb, and the only place that prints."""

from __future__ import annotations

import sys

from rankwright.base.errors import MissingPackageError, requiring


def main() -> None:
    """Run the command line."""
    try:
        with requiring("typer"):
            from rankwright.cli.app import main as run
    except MissingPackageError as error:
        sys.exit(str(error))
    run()
