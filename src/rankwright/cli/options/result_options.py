"""What verbs write and show of a result: its chart, its page, text or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankwright.cli.options.option_groups import option_group
from rankwright.cli.options.shared_options import JSON, PLOT, REPORT, check_plot, check_report
from rankwright.cli.output.console import note, show


@option_group
class ResultOptions:
    """What is written and shown of a result."""

    plot: Path | None = PLOT
    report: Path | None = REPORT
    json: bool = JSON

    def check(self, *inputs: Path | None) -> None:
        """Refuse a chart or a page that cannot be written."""
        check_plot(self.plot, inputs=inputs)
        check_report(self.report, inputs=inputs)

    def show(self, result: Any) -> None:
        """Write the chart and the page of a result, if asked for, and show the result."""
        if self.plot is not None:
            result.chart().save(self.plot)
            note(f"wrote {self.plot}")
        if self.report is not None:
            result.write_page(self.report)
            note(f"wrote {self.report}")
        show(result, json=self.json)
