import json
import os
import stat
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

from models.examples import X_EXAMPLE, example, features, scorers
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.data.categories import Category
from rankwright.data.feature_ranges import FeatureRanges
from rankwright.models import Combination, FeatureScorer, load, save
from rankwright.models.model_file import (
    FORMAT_VERSION,
    HEADER_START,
    MAGIC,
    SIZES,
    VERSION,
    decode,
    encode,
    sealed,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rw"


@given(scorers, features)
def test_a_model_comes_back_the_same(scorer, X):
    content = encode(scorer)
    loaded = decode(content, "model.rw")
    assert type(loaded) is type(scorer)
    assert loaded.predict(X).tobytes() == scorer.predict(X).tobytes()
    assert encode(loaded) == content


def test_names_and_facts_come_back(path):
    save(example(), str(path))
    loaded = load(str(path))
    assert loaded.feature_names == ("bm25", "length", "pagerank")
    assert loaded.about == {"ranker": "AdaRank", "rounds": 7, "metric": "ndcg@10"}


def version_of(content):
    return VERSION.unpack_from(content, len(MAGIC))[0]


def test_only_a_model_with_categories_needs_version_2(path):
    assert version_of(encode(example())) == 1
    category = Category("length", ("short", "long"), one_hot=False)
    content = encode(example().described(categories=[category]))
    assert version_of(content) == 2
    loaded = decode(content, "model.rw")
    assert loaded.categories == (category,)
    assert encode(loaded) == content
    assert loaded.bare().categories == ()


def ranges_of(missing=(0.0, 0.25, 1.0)):
    low, high = np.array([-1, 0, np.inf], np.float32), np.array([2, np.inf, -np.inf], np.float32)
    return FeatureRanges(low, high, np.array(missing))


def test_the_ranges_of_training_come_back_and_need_version_3():
    content = encode(example().described(ranges=ranges_of()))
    assert version_of(content) == 3
    loaded = decode(content, "model.rw")
    for name in ("minimum", "maximum", "missing"):
        np.testing.assert_array_equal(getattr(loaded.ranges, name), getattr(ranges_of(), name))
    assert encode(loaded) == content
    assert loaded.predict(X_EXAMPLE).tolist() == example().predict(X_EXAMPLE).tolist()
    assert loaded.bare().ranges is None
    assert decode(encode(example()), "model.rw").ranges is None


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda parts: parts | {"ranges": {}}, "must be an object of minimum, maximum, missing"),
        (lambda parts: parts | {"ranges": None}, "bytes belong to no array"),
        (lambda parts: parts | {"ranges": parts["ranges"] | {"missing": ["float64", [2]]}}, "one per feature"),
        (lambda parts: parts | {"ranges": parts["ranges"] | {"missing": ["float64", [4]]}}, "cut short"),
    ],
)
def test_damaged_ranges_are_refused(damage, sentence):
    content = encode(example().described(ranges=ranges_of()))
    size = SIZES.unpack_from(content, len(MAGIC) + VERSION.size)[1]
    end = HEADER_START + size
    header = json.dumps(damage(json.loads(content[HEADER_START:end]))).encode()
    with pytest.raises(InputError, match=sentence):
        decode(sealed(header, content[end:-32]), "model.rw")


@pytest.mark.parametrize("missing", [(0.0, 0.5, 1.5), (0.0, 0.5, np.nan), (0.0, -0.5, 1.0)])
def test_missing_rates_are_fractions(missing):
    with pytest.raises(InputError, match="missing rates from 0 to 1"):
        ranges_of(missing)


def test_ranges_have_one_value_per_feature():
    with pytest.raises(InputError, match="ranges of 3 features, and 2 features"):
        FeatureScorer(1, -1, n_features=2, missing=0.0).described(ranges=ranges_of())


def test_a_fitted_ranker_is_saved_by_its_model(path):
    save(SimpleNamespace(model_=example()), path)
    assert load(path).predict(X_EXAMPLE).tolist() == example().predict(X_EXAMPLE).tolist()


@pytest.mark.parametrize("model", [SimpleNamespace(), SimpleNamespace(model_=None), 3, None])
def test_only_models_are_saved(model, path):
    with pytest.raises(InputError, match="save takes a scorer or a fitted ranker"):
        save(model, path)
    assert not path.exists()


def nested(depth):
    scorer = FeatureScorer(0, n_features=1, missing=0)
    for _ in range(depth - 1):
        scorer = Combination([scorer], [1])
    return scorer


def test_depth_is_limited(path):
    save(nested(16), path)
    assert load(path).depth == 16
    with pytest.raises(InputError, match="nests 17 scorers; at most 16"):
        save(nested(17), path)


def test_an_endless_description_is_refused(path):
    with pytest.raises(InputError, match="description takes"):
        save(example().described(about={"log": "x" * (17 << 20)}), path)


def refused(path, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_such_file(path):
    refused(path, "There is no file")


def test_not_a_file(tmp_path):
    refused(tmp_path, "is not a file")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "is not a file")


@pytest.mark.parametrize(
    "content", [b"", b"\x89rank", b"PK\x03\x04", b"\x89rankwright\n\x1a\n", b"2 qid:1 1:0.5\n"]
)
def test_not_a_model(content, path):
    path.write_bytes(content)
    refused(path, "is not a rankwright model")


@pytest.mark.slow
def test_cut_short_anywhere(path):
    content = encode(example())
    for size in range(15, len(content)):
        path.write_bytes(content[:size])
        refused(path, "is cut short")


@pytest.mark.slow
def test_altered_anywhere(path):
    content = encode(example())
    for place in range(35, len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        refused(path, "has been altered or damaged")
    path.write_bytes(content + b"\n")
    refused(path, "has been altered or damaged")


def test_a_later_format_is_named(path):
    path.write_bytes(sealed(b"{}", b"", version=FORMAT_VERSION + 6))
    refused(
        path,
        f"later version of rankwright: it has format {FORMAT_VERSION + 6}, .* up to format {FORMAT_VERSION}",
    )


def test_an_interrupted_save_leaves_the_old_file(path):
    save(example(), path)
    old = path.read_bytes()

    def interrupted():
        with write_whole(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == old
    assert list(path.parent.iterdir()) == [path]


def test_permissions_are_those_of_a_plain_file(path, tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    save(example(), path)
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    path.chmod(0o640)
    save(example(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_is_followed(path, tmp_path):
    (tmp_path / "link").symlink_to(path)
    save(example(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(path).n_features == 3


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written: No such file"):
        save(example(), tmp_path / "nowhere" / "model.rw")
    with pytest.raises(InputError, match="is not a file"):
        save(example(), tmp_path)
    with pytest.raises(InputError, match="is not a file"):
        save(example(), os.devnull)


def test_arrays_come_back_in_the_machines_own_byte_order(path):
    save(example(), path)
    assert load(path).weights.dtype == np.dtype(np.float64)
    assert load(path).weights.dtype.isnative
