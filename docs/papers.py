"""Run the experiments of the papers and write their pages: `python docs/papers.py --data FOLDER [PAPER ...]`.

Each paper gets `papers/PAPER.json` with the rows of its table, figures in `figures/papers`, and `papers/PAPER.md`,
which is made from these alone. `reproduced.md` counts what was reached. `tests/papers/test_pages.py` compares the
pages with the rows, and the rows with what the package declares.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.wording import counted
from rankwright.papers.framework.catalogue import MODULES, find_paper
from rankwright.papers.framework.groups import Groups
from rankwright.papers.framework.reproduce import reproduce
from rankwright.papers.framework.rows import NO_DATA, STATES, Row
from rankwright.reports.blocks import markdown

if TYPE_CHECKING:
    from rankwright.papers.framework.reproduction import Reproduction

FOLDER = Path(__file__).parent
PAGES, FIGURES = FOLDER / "papers", FOLDER / "figures" / "papers"
OVERVIEW = FOLDER / "reproduced.md"
LEADS = {  # what a search engineer wants to know first; tests compare its numbers with the rows
    "adarank-2007": (
        "AdaRank is better than BM25, by 0.0371 MAP on OHSUMED, and than Ranking SVM in MAP, by 0.0117. Its leads "
        "over RankBoost, and over Ranking SVM in NDCG@5, are not significant. Counted is rankwright's default, "
        "which chooses features by equation 8; as printed, AdaRank stops after a round or two, and is among the "
        "variants."
    ),
    "direct-2008": (
        "On OHSUMED, methods that optimise a measure directly (SVMmap, AdaRank, PermuRank) are not significantly "
        "better than RankSVM and RankBoost: the MAP of all five is between 0.4463 and 0.4491. Their published "
        "numbers are reached or exceeded, with other features. The theorems and bounds hold in every case that was"
        " tried, but which of the two types of bounds is tighter depends on whether pairs of equal labels count."
    ),
    "calibrated-2011": (
        "The calibrated ensembles do not reach their published values: with all calibrations NDCG@10 is 0.3986 on "
        "OHSUMED (published 0.4561), significantly below all baselines, and mean NDCG is 0.4820 on MQ2008 "
        "(published 0.5006). Mixing calibrated classifiers is better than selecting one, by 0.0193 and 0.0134. "
        "Smaller steps and bags help: rankwright's default settings close three quarters of the gap on OHSUMED and"
        " a quarter on MQ2008 ([what was "
        "tried](../as-printed.md#what-does-not-explain-the-numbers-of-the-calibrated-ensembles))."
    ),
    "lambdasmart-2010": (
        "LambdaMART is clearly better than LambdaRank (by 0.1280 NDCG@10 on artificial data), as good as McRank in"
        " NDCG@10 and better in NDCG@1 (by 0.0175). It needs fewer than half of McRank's trees for the same "
        "accuracy, and a third of its time for as many rounds. The optimal combiner does not converge faster than "
        "full Newton steps. The web data of the paper are not public; on generated ones, LambdaSMART is a better "
        "way to adapt a ranker than interpolation."
    ),
    "mpboost-2009": (
        "Distances that preserve the magnitude of preferences gain 0.0113 to 0.0318 NDCG over binary labels on "
        "OHSUMED, which 106 queries do not show to be significant; on generated data like Web-2 they gain 0.0148 "
        "to 0.0221, significantly. Unlike in the paper, the linear distance (LDD) is the best of the three on "
        "OHSUMED, and none is above our ListNet."
    ),
}
PAGE = re.compile(r"\bdocs/([a-z-]+\.md)")
MARKED = re.compile(r"(<!-- reproduced -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> None:
    """Run papers, and write their pages and the overview."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", choices=[[], *MODULES], metavar="PAPER")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cranfield", type=Path)
    parser.add_argument("--work", type=Path, default=Path("reproduced"))
    options = parser.parse_args()
    for name in options.papers or MODULES:
        result = reproduce(find_paper(name), options.data, work=options.work / name, cranfield=options.cranfield)
        keep(result)
        sys.stderr.write(f"{name}: {result.summary}\n")
    for name in run_papers():
        (PAGES / f"{name}.md").write_text(page(read_facts(name)))
    OVERVIEW.write_text(renewed(OVERVIEW.read_text()))


def keep(result: Reproduction) -> None:
    """Write the rows and the figures of a paper."""
    PAGES.mkdir(exist_ok=True)
    FIGURES.mkdir(parents=True, exist_ok=True)
    sections = []
    for place, done in enumerate(result.done):
        figures = []
        for number, picture in enumerate(done.experiment.figures if done.results is not None else ()):
            file = FIGURES / f"{result.paper.name}-{place + 1}-{number + 1}.svg"
            chart = picture.draw(done.results)
            chart.save(file)
            figures.append({"file": file.name, "where": picture.where, "claim": picture.claim})
        about = {"name": done.experiment.name, "about": done.experiment.about, "mark": done.experiment.mark()}
        sections.append({**about, "figures": figures})
    facts = result.to_dict() | {"experiments": sections}
    facts_file(result.paper.name).write_text(json.dumps(_rounded(facts), indent=1) + "\n")


def facts_file(name: str) -> Path:
    """Return the file of a paper's rows."""
    return PAGES / f"{name}.json"


def run_papers() -> list[str]:
    """Return the names of the papers that were run."""
    return [name for name in MODULES if facts_file(name).exists()]


def read_facts(name: str) -> dict[str, Any]:
    """Return what was measured for a paper."""
    found: dict[str, Any] = json.loads(facts_file(name).read_text())
    return found


def rows_of(facts: dict[str, Any]) -> list[Row]:
    """Return the rows of a paper's table."""
    return [Row(**row) for row in facts["rows"]]


def page(facts: dict[str, Any]) -> str:
    """Return the page of a paper."""
    name, rows = facts["paper"], rows_of(facts)
    groups = Groups.of(rows)
    parts = [
        f"# {facts['title']}",
        facts["authors"] + ".",
        LEADS[name],
        "\n".join(f"- {_with_bold_lead(sentence)}" for sentence in groups.verdict()),
        f"Run again with `rankwright reproduce {name} --data FOLDER`; it takes {facts['seconds'] / 60:.0f} "
        "minutes of processor time. [What the states mean](../reproduced.md#states).",
    ]
    for title, table in groups.tables().items():
        plain = markdown(replace(table, caption="", folded=""))
        parts += [f"## {title}", _folded(table.folded, plain) if table.folded else plain]
    if groups.not_tried:
        parts.append(_without_data(groups.not_tried))
    tried = {row.experiment for row in rows if row.state != NO_DATA}
    for section in facts["experiments"]:
        if section["name"] not in tried:
            continue
        remarked = [row for row in rows if row.experiment == section["name"] and row.remarks]
        parts += [f"## {section['name']}", section["about"]]
        parts += _remarks(remarked)
        parts += [
            f"**{figure['where']}.** The paper: {figure['claim']}\n\n"
            f"![{figure['where']}](../figures/papers/{figure['file']})"
            for figure in section["figures"]
        ]
    return "\n\n".join(parts) + "\n"


def _with_bold_lead(sentence: str) -> str:
    lead, colon, rest = sentence.partition(": ")
    return f"**{lead}:** {rest}" if colon else sentence


def _remarks(rows: list[Row]) -> list[str]:
    """Return a list of remarks, each once, and a folded one of those on variants."""
    lists = []
    for variant in (False, True):
        about: dict[str, list[str]] = {}
        for row in rows:
            if row.variant == variant:
                about.setdefault(row.remarks, []).append(row.what)
        lines = [f"- {'; '.join(claims)}: {PAGE.sub(_link, remarks)}." for remarks, claims in about.items()]
        lists.append("\n".join(lines))
    counted_rows, variants = lists
    return [counted_rows] * bool(counted_rows) + [_folded("Variants", variants)] * bool(variants)


def _link(page_name: re.Match[str]) -> str:
    return f"[{page_name[1]}](../{page_name[1]})"


def _without_data(rows: list[Row]) -> str:
    """Return what could not be tried, one line per collection and place of the paper, folded."""
    places: dict[tuple[str, str], int] = {}
    for row in rows:
        places[row.data, row.where] = places.get((row.data, row.where), 0) + 1
    lines = [f"- {data}: {where}, {counted(n, 'row')}" for (data, where), n in places.items()]
    return _folded(f"{counted(len(rows), 'row')} without data", "\n".join(lines))


def _folded(summary: str, text: str) -> str:
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def renewed(text: str) -> str:
    """Return the overview with its table as the rows have it."""
    found = [read_facts(name) for name in run_papers()]
    return MARKED.sub(lambda old: f"{old[1]}{_overview(found)}\n{old[2]}", text)


def _overview(papers: list[dict[str, Any]]) -> str:
    lines = ["| paper | rows | " + " | ".join(STATES) + " | minutes |", "|" + " --- |" * (len(STATES) + 3)]
    for facts in papers:
        rows = [row for row in rows_of(facts) if not row.variant]
        counts = [sum(row.state == state for row in rows) for state in STATES]
        link = f"[{facts['authors']}](papers/{facts['paper']}.md)"
        cells = [link, str(len(rows)), *(str(n or "") for n in counts), f"{facts['seconds'] / 60:.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    missing = [find_paper(name).authors for name in MODULES if name not in run_papers()]
    note = f"\n\nNot run in full yet: {', '.join(missing)}." if missing else ""
    return "\n".join(lines) + note


def _rounded(value: Any) -> Any:
    """Return JSON values with numbers of six significant digits, so that files do not differ by rounding."""
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


if __name__ == "__main__":
    main()
