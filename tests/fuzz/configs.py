"""Damaged configuration files: options that can be saved and read again, or one sentence."""

import tempfile
from functools import partial
from pathlib import Path

from typer.main import get_command

from fuzz.campaign import ACCEPTED, REFUSED
from fuzz.damage import damaged
from fuzz.data import one_word_changed
from rankwright.base.errors import InputError
from rankwright.cli.app import app
from rankwright.cli.options.config import _options_of, as_text
from rankwright.cli.options.rankers import make_rankers
from rankwright.cli.options.usage_errors import CommandMistake, sentence_of
from rankwright.cli.output.console import one_line

SUFFIXES = (".yaml", ".toml", ".json")
SETTINGS = {"rounds": 20, "metric": "ndcg@5", "coarse": True, "query_features": ["zscore", "rank"], "l2": 0.5}
VERBS = {
    "train": {"ranker": "lambdamart", "train": "t.txt", "model": "m.rw", "jobs": 1, "features": ["a", "b"]},
    "crossval": {"ranker": ["mart", "lambdamart"], "data": "judged.csv", "validation": 0.2, "tune": True},
    "tune": {"ranker": "lambdamart", "data": "judged.csv", "trials": 5, "space": ["l2=0.1..1"], "time": "10m"},
}
HONEST = {verb: options | {"set": SETTINGS} for verb, options in VERBS.items()}
SIGNS = (
    b"&a ", b"*a", b"<<: *a", b"!!bool ", b"!!python/object:os.system ", b"!a ", b"2020-01-01", b"1:30",
    b"0x10", b"~", b"? ", b"- ", b"|", b">", b"%YAML 1.1", b"---\n", b"...", b"{", b"}", b"[", b"]", b"[set]",
    b"[[set]]", b"a.b = 1\n", b"'", b'"""', b"\\u0000", b"\\ud800", b"NaN", b"Infinity", b"1e999", b"null",
    b"1" * 5000, b"[" * 2000, b"true", b"set: &x {rounds: *x}\n", b"rounds", b"ranker", b"no", b"-0", b"=",
    b"config", b"help_all", b"\\n", b"\xc3\xa9",
)  # fmt: skip
VALUES = (
    0, 1, -1, 7, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), True, False,
    None, "", "true", "none", "é", "a\nb", "a,b", "a=b", "x" * 5000, "-", "--jobs", "ranker", [], ["a"],
    ["a,b", "c"], [[1]], [None], {}, {"rounds": 3}, {"a": {"b": 1}}, "2020-01-01", "1:30", "0x10", "~", "*a",
    "&a", "!!int", "#", "[", "\x7f", "\u2028",
)  # fmt: skip


def prepared():
    folder = Path(tempfile.mkdtemp(prefix="fuzz-configs-"))
    files = []
    for verb, options in HONEST.items():
        command = get_command(app).full_command(verb)
        for suffix in SUFFIXES:
            path = folder / f"honest{suffix}"
            path.write_text(as_text(options, path))
            _rankers(_context(command, path))  # honest files must be taken
            files.append((command, suffix, options))
    return partial(_case, folder, files)


def _case(folder, files, rng):
    command, suffix, options = files[rng.integers(len(files))]
    path = folder / f"damaged{suffix}"
    path.write_bytes(_changed(options, path, rng))
    try:
        context = _context(command, path)
        _rankers(context)
    except CommandMistake as mistake:
        return _judged(sentence_of(mistake))
    except InputError as error:
        return _judged(str(error))
    again = folder / f"saved{SUFFIXES[rng.integers(3)]}"
    again.write_text(as_text(_options_of(context), again))
    return ACCEPTED if _given(_context(command, again)) == _given(context) else "other options once saved and read"


def _changed(options, path, rng):
    """Return the content of a file with other values, words or signs, or with damage of any kind."""
    if rng.random() < 0.5:
        return _with_other_value(options, path, rng)
    content = as_text(options, path).encode()
    how = rng.integers(3)
    if how == 0:
        return damaged(content, rng)
    if how == 1:
        return one_word_changed(content, rng)
    for _ in range(rng.integers(1, 4)):
        start, sign = int(rng.integers(len(content) + 1)), SIGNS[rng.integers(len(SIGNS))]
        content = content[:start] + sign + content[start + int(rng.integers(3)) * len(sign) // 2 :]
    return content


def _with_other_value(options, path, rng):
    options = {**options, "set": {**options["set"]}}
    table = options["set"] if rng.random() < 0.4 else options
    name, value = list(table)[rng.integers(len(table))], VALUES[rng.integers(len(VALUES))]
    if rng.random() < 0.2:
        del table[name]
    table[name if rng.random() < 0.8 else str(value)[:99]] = value
    try:
        return as_text(options, path).encode()
    except InputError:  # TOML has no null
        return as_text(options, Path("null.json")).encode()


def _context(command, path):
    """Return the options of a command whose configuration is in a file."""
    return command.make_context(command.name, ["--config", str(path)])


def _rankers(context):
    """Return the rankers of a command by name; making them checks their parameters."""
    named = context.params["ranker"]
    return make_rankers([named] if isinstance(named, str) else named, context.params["settings"] or [], None)


def _given(context):
    options = {name: repr(each) for name, each in context.params.items() if name not in ("settings", "config")}
    return options | {name: repr(ranker) for name, ranker in _rankers(context).items()}


def _judged(sentence):
    shown = one_line(sentence)
    bad = "\n" in shown or len(shown) > 1000
    return f"a long or broken sentence: {sentence[:300]!r}" if bad else REFUSED
