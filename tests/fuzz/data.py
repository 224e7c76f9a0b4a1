"""Damaged LETOR, CSV, run and judgement files: what they hold, or one sentence that names the file."""

import gzip
import re
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import rankwright as rw
from fuzz.campaign import ACCEPTED, REFUSED
from fuzz.damage import damaged
from rankwright.base.errors import InputError
from rankwright.data.tables import ColumnsWarning


def prepared():
    folder = Path(tempfile.mkdtemp(prefix="fuzz-data-"))
    judged = _judged()
    letor, run = folder / "honest.txt", folder / "honest.run"
    rw.write_letor(judged, letor)
    run.write_text("".join(f"q{row % 3} Q0 d{row} {row + 1} {-row}.5 system\n" for row in range(20)))
    judgements = "".join(f"q{row % 3} 0 d{row} {row % 4}\n" for row in range(20))
    kinds = {
        ".txt": (rw.read_letor, letor.read_bytes()),
        ".csv": (partial(rw.read_csv, categorical=["kind*"]), _csv(judged)),
        ".run": (rw.read_run, run.read_bytes()),
        ".qrels": (rw.read_judgements, judgements.encode()),
    }
    for suffix, (read, content) in kinds.items():
        (folder / f"honest{suffix}").write_bytes(content)
        read(folder / f"honest{suffix}")  # honest files must be read, and imports happen before memory is limited
    return partial(_case, folder, list(kinds.items()))


def _judged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 5)).astype(np.float32)
    return rw.RankingData(X, rng.integers(0, 3, 24), np.repeat(["b", "10", "é"], 8))


def _csv(judged):
    lines = ["label,qid,kind,a,b,c,d,e"]
    lines += [
        f"{y:g},{qid},{'xyz'[int(y)]}," + ",".join(f"{x:.4g}" for x in row)
        for row, y, qid in zip(judged.X, judged.y, judged.qid, strict=True)
    ]
    return "\n".join(lines).encode()


def _case(folder, kinds, rng):
    suffix, (read, honest) = kinds[rng.integers(len(kinds))]
    content = damaged(honest, rng) if rng.random() < 0.6 else one_word_changed(honest, rng)
    if rng.random() < 0.15:
        suffix, content = f"{suffix}.gz", gzip.compress(content)
        content = damaged(content, rng) if rng.random() < 0.5 else content
    path = folder / f"damaged{suffix}"
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ColumnsWarning)
            result = read(path)
    except InputError as error:
        return _judge_sentence(str(error), path)
    return _judge_data(result) if isinstance(result, rw.RankingData) else ACCEPTED


def one_word_changed(content, rng):
    """Put another word of the file in the place of one, so that the file is more often still one."""
    words = re.split(rb"([\s,:]+)", content)
    places = range(0, len(words), 2)
    words[rng.choice(places)] = words[rng.choice(places)]
    return b"".join(words)


def _judge_sentence(sentence, path):
    if "\n" in sentence or len(sentence) > 800:
        return f"a long or broken sentence: {sentence[:300]!r}"
    return REFUSED if path.name in sentence else f"a sentence that does not name the file: {sentence[:300]!r}"


def _judge_data(data):
    if not (len(data.X) == len(data.y) == len(data.qid) > 0):
        return f"{len(data.X)} rows, {len(data.y)} labels, {len(data.qid)} query ids"
    if not np.isfinite(data.y).all() or np.isinf(data.X).any():
        return "values that are not finite"
    return ACCEPTED
