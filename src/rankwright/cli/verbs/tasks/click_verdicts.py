"""The tasks of `rankwright clicks` that compare rankers: by a log, by interleaving, by an A/B test."""

from __future__ import annotations

from pathlib import Path

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.click_logs import LOG, LogOptions
from rankwright.cli.options.data_files import FORMATS, ReadOptions
from rankwright.cli.options.faces import Face
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.result_options import ResultOptions
from rankwright.cli.options.shared_options import named_files
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import note

EXPERIMENT = {"level": Face("FRACTION"), "planned": Face("N", more={"min": 1})}


def evaluate(
    *,
    log: Path = LOG,
    systems: list[str] = argument(
        "What would order the documents: model files or score files. NAME=FILE names one.",
        "SYSTEM...",
        default=REQUIRED,
    ),
    how: LogOptions,
    data: Path = option(f"Documents of the log's queries ({FORMATS}).", "FILE", default=REQUIRED),
    reading: ReadOptions,
    options: Given = options_of(
        "clicks.off_policy",
        faces={
            "reward": Face("NAME", words="What to estimate per list: clicks, or dcg."),
            "assume": Face("NAME", words="What clicks depend on: position, item_position, list, or first."),
            "examination": Face("METHOD", type=str, words="Method of `clicks propensities`."),
            "clip": Face("NUMBER"),
            "model": Face("NAME", type=str, rare=True),
            "level": Face("FRACTION", rare=True),
            "random_state": Face("N", "--seed", rare=True, more={"min": 0}),
        },
    ),
    output: ResultOptions,
) -> None:
    """Estimate the clicks that other rankers would have had, from the log of one that was shown.

    Example:

        rankwright clicks evaluate log.csv new.rw --data docs.txt
    """
    from rankwright.cli.options.system_files import opened

    output.check(log, data)
    files = named_files(systems)
    with opened(files, data, reading, options["n_jobs"], labels=False) as (rankers, documents):
        result = rw.clicks.off_policy(how.read(log), rankers, documents, **options)
    output.show(result)


def interleaving(
    *,
    credits_file: Path = argument(
        "Log of `rankwright serve --interleave`, or a table in CSV with the columns first and second, one row per "
        "impression, and if known session and user.",
        "CREDITS",
        default=REQUIRED,
    ),
    names: Given = options_of(
        "clicks.read_credits",
        faces={"first": Face("NAME", rare=True, type=str), "second": Face("NAME", rare=True, type=str)},
    ),
    options: Given = options_of("clicks.interleaving", faces=EXPERIMENT | {"by": Face("UNIT", type=str)}),
    output: ResultOptions,
) -> None:
    """Tell which of two interleaved rankers users prefer, with tests that hold at any time.

    Example:

        rankwright clicks interleaving serve.log
    """
    output.check(credits_file)
    result = rw.clicks.interleaving(rw.clicks.read_credits(credits_file, **names), **options)
    output.show(result)


def ab(
    *,
    log: Path = LOG,
    how: LogOptions,
    options: Given = options_of("clicks.ab_test", without=("users", "names"), faces=EXPERIMENT),
    output: ResultOptions,
) -> None:
    """Compare the clicks per list of the two policies of a log, which is an A/B test, by session.

    Example:

        rankwright clicks ab log.csv
    """
    output.check(log)
    behaviour = how.read(log)
    for sentence in behaviour.notes:
        note(sentence)
    output.show(rw.clicks.ab_test(*rw.clicks.session_outcomes(behaviour), **options))


def plan(
    *,
    preference: float | None = option("Preference that interleaving is to detect: 0.02 for 51 : 49.", "NUMBER"),
    ties: float = option("With --preference: expected fraction of ties.", "FRACTION", default=0.0),
    rate: float | None = option("Rate in the first arm of an A/B test, instead of --preference.", "FRACTION"),
    difference: float | None = option("With --rate: difference of rates to detect.", "NUMBER"),
    options: Given = options_of(
        "clicks.plan_interleaving",
        without=("ties",),
        faces={
            "sessions_per_user": Face("NUMBER"),
            "correlation": Face("FRACTION"),
            "level": Face("FRACTION"),
            "power": Face("FRACTION"),
        },
    ),
    output: ResultOptions,
) -> None:
    """Tell how many sessions an interleaving experiment or an A/B test needs.

    Example:

        rankwright clicks plan --preference 0.02 --ties 0.6
    """
    output.check()
    if preference is not None and rate is None and difference is None:
        output.show(rw.clicks.plan_interleaving(preference, ties=ties, **options))
    elif preference is None and rate is not None and difference is not None and not ties:
        output.show(rw.clicks.plan_ab_test(rate, difference, **options))
    else:
        raise InputError("Give --preference and if known --ties, or --rate and --difference.")
