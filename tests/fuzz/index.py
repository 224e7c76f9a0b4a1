"""Damaged indexes: the answers of the whole index or one sentence, never other answers.

Where the damage has right checksums, other answers are right, and there must be some or one sentence.
"""

import json
import shutil
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import rankwright as rw
from fuzz.campaign import ACCEPTED, REFUSED
from fuzz.damage import damaged, revalued
from fuzz.models import changed
from rankwright.base.errors import InputError
from rankwright.text import BM25, Dirichlet, FeatureSet, Index, JelinekMercer
from rankwright.text.index.manifest import NAME, checksum_of
from text_documents import stored_arrays, write_arrays

MODELS = (BM25(), Dirichlet(), JelinekMercer())


def prepared():
    folder = Path(tempfile.mkdtemp(prefix="fuzz-index-"))
    honest, other = (built(folder / name, seed) for seed, name in enumerate(("honest", "other")))
    copy = shutil.copytree(honest, folder / "copy")
    expected = answers(copy, merge=True)
    return partial(_case, honest, other, copy, expected)


def built(folder, seed):
    """Write an index of two segments with removed documents."""
    documents = rw.text.generated_collection(60, 5, seed=seed).documents
    index = Index.build(documents[:40], folder, fields={"title": 2, "body": 1})
    index.add(documents[40:])
    index.remove(["d3", "d17", "d50"])
    return folder


def answers(folder, *, merge=False):
    """Return what an index says: all its texts, and the documents and features for many queries."""
    index = Index.open(folder)
    said = _said(index)
    if merge:
        index.merge(n_jobs=1)
        said = {**said, **{f"{key} after a merge": value for key, value in _said(index).items()}}
    return said


def _said(index):
    ids = [f"d{number}" for number in range(60)]
    texts = {name: index.text(name) for name in ids if name in index}
    words = sorted({word.lower() for text in texts.values() for word in " ".join(text.values()).split()})
    queries = [*words, "old bridge repair", " ".join(words)]
    lists = [index.search_all(queries, model, 5, n_jobs=1) for model in MODELS]
    candidates = [*texts][:5]
    asked = {"all": " ".join(words), "unknown": "zeppelin", "empty": ""}
    features = FeatureSet().documents(index, asked, dict.fromkeys(asked, candidates), n_jobs=1)
    return {
        "texts": texts,
        "documents": [[results.ids for results in of_model] for of_model in lists],
        "scores": [[results.scores.tobytes() for results in of_model] for of_model in lists],
        "features": features.X.tobytes(),
        "settings": (len(index), index.weights, index.analyser),
    }


def _case(honest, other, copy, expected, rng):
    shutil.rmtree(copy)
    shutil.copytree(honest, copy)
    mutate = (*UNSEALED, *SEALED)[rng.integers(len(UNSEALED) + len(SEALED))]
    what = mutate(copy, other, rng)
    try:
        said = answers(copy, merge=rng.random() < 0.3)
    except InputError as error:
        sentence = str(error)
        bad = len(sentence) > 400 or "\n" in sentence
        return f"a long or broken sentence: {sentence[:300]}" if bad else REFUSED
    if mutate in SEALED:
        return ACCEPTED
    differing = [key for key, value in said.items() if value != expected[key]]
    return f"silently other {', '.join(differing)}: {what}" if differing else ACCEPTED


def _file(folder, rng):
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return files[rng.integers(len(files))]


def _rewritten(change):
    """Return a mutation that changes the bytes of a file."""

    def mutate(folder, other, rng):
        path = _file(folder, rng)
        path.write_bytes(change(path.read_bytes(), rng))
        return f"{change.__name__} {path.name}"

    return mutate


def _flipped(content, rng):
    place = int(rng.integers(len(content)))
    return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]


def _zeroed(content, rng):
    start = int(rng.integers(len(content)))
    size = min(int(rng.integers(1, 5000)), len(content) - start)
    return content[:start] + bytes(size) + content[start + size :]


def _cut(content, rng):
    return content[: rng.integers(len(content))]


def _swapped(folder, other, rng):
    """Put a file in the place of another one, of this index or of the other."""
    path, source = _file(folder, rng), _file(folder if rng.random() < 0.5 else other, rng)
    shutil.copyfile(source, path) if source != path else path.unlink()
    return f"{source.name} as {path.name}"


def _edited(folder, other, rng):
    """Change values of the manifest."""
    path = folder / NAME
    donor = json.loads((other / NAME).read_bytes())
    path.write_text(json.dumps(changed(json.loads(path.read_bytes()), donor, rng), indent=1))
    return f"edited {path.read_text()}"


def _resealed_manifest(folder, other, rng):
    """Change values of the manifest and its checksum."""
    contents = [json.loads((path / NAME).read_bytes()) for path in (folder, other)]
    heads = [{key: content.pop(key) for key in ("format", "version", "checksum")} for content in contents]
    content = changed(*contents, rng)
    sealed = heads[0] | {"checksum": checksum_of(content)} | content
    (folder / NAME).write_text(json.dumps(sealed))


def _resealed_arrays(folder, other, rng):
    """Change values of the arrays and their checksums."""
    arrays = stored_arrays(folder)
    name = rng.choice([*arrays])
    values = arrays[name]
    if rng.random() < 0.2:
        arrays[name] = values[: rng.integers(len(values) + 1)]
    elif rng.random() < 0.2:
        arrays[name] = np.sort(values, axis=0)[::-1].copy()
    else:
        arrays[name] = np.frombuffer(revalued(values.tobytes(), rng), values.dtype).reshape(values.shape)
    write_arrays(folder, arrays)


UNSEALED = (*map(_rewritten, (_flipped, _flipped, _zeroed, _cut, damaged, revalued)), _swapped, _edited, _edited)
SEALED = (_resealed_manifest, _resealed_arrays, _resealed_arrays, _resealed_arrays)
