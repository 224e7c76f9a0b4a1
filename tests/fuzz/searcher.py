"""Damaged searchers: one sentence, or a searcher of exactly the settings in its file, which finds documents."""

import json
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import rankwright as rw
from fuzz.campaign import ACCEPTED, REFUSED
from fuzz.damage import damaged
from fuzz.models import changed
from rankwright.base.errors import InputError
from rankwright.text import FeatureSet, Index, Searcher
from rankwright.text.searcher import CHECKSUM_SIZE, MAGIC, NUMBERS, START, file_content, read_searcher

OWN = {"clicks": {"d1": 3.0, "d2": 4.5}}


def prepared():
    folder = Path(tempfile.mkdtemp(prefix="fuzz-searcher-"))
    collection = rw.text.generated_collection(60, 10)
    index = Index.build(collection.documents, folder / "index")
    files = []
    for columns in (None, OWN):
        features = FeatureSet(["BM25", "phrase", "length"], columns=columns)
        judged = features.judged(index, collection.queries, collection.judgements, candidates=20)
        path = Searcher(index, features, rw.AdaRank(rounds=3).fit(judged.data), candidates=20).save(
            folder / "honest"
        )
        files.append(path.read_bytes())
    files.append(Searcher(index).save(folder / "honest").read_bytes())
    return partial(_case, folder / "damaged.rws", files)


def _case(path, files, rng):
    """Damage a file, its settings or the values in them, or give it the model of another one."""
    content, other = (files[rng.integers(len(files))] for _ in range(2))
    settings, payload = _parts(content)
    how = rng.integers(4)
    if how == 0:
        content = damaged(content, rng)
    elif how == 1:
        content = file_content(damaged(json.dumps(settings).encode(), rng), payload)
    elif how == 2:
        content = file_content(json.dumps(settings).encode(), _parts(other)[1])
    else:
        content = file_content(json.dumps(changed(settings, _parts(other)[0], rng)).encode(), payload)
    path.write_bytes(content)
    return _tried(path)


def _parts(content):
    """Return the settings of a file, and the bytes of its model."""
    end = START + NUMBERS.unpack_from(content, len(MAGIC))[2]
    return json.loads(content[START:end]), content[end:-CHECKSUM_SIZE]


def _tried(path):
    """Load, search and save again; return what is wrong with the answer."""
    try:
        searcher = Searcher.load(path)
        results = searcher.search("old bridge repair", 5)
        said, _ = read_searcher(path)
        saved, _ = read_searcher(searcher.save(path.with_name("again.rws")))
    except InputError as error:
        sentence = str(error)
        bad = len(sentence) > 600 or "\n" in sentence
        return f"a long or broken sentence: {sentence[:300]}" if bad else REFUSED
    if said | {"index": ""} != saved | {"index": ""}:
        return f"silently other settings: {json.dumps(saved)[:400]}, not {json.dumps(said)[:400]}"
    return ACCEPTED if np.isfinite(results.scores).all() and len(results) else f"found {results!r}"
