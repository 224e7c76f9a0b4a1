"""Files whose checksum is right and whose content is not: an InputError or a valid scorer, nothing else."""

import copy
import hashlib
import json
import re
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example as with_example
from hypothesis import given
from hypothesis import strategies as st

from models.examples import X_EXAMPLE, example
from properties import examples
from rankwright.base.errors import InputError
from rankwright.models.model_file import CHECKSUM_SIZE, HEADER_START, MAX_DEPTH, SIZES, decode, encode, sealed
from rankwright.models.serialisation import MAX_FACTS_DEPTH, MAX_FEATURES

CONTENT = encode(example())
HEADER_SIZE = SIZES.unpack_from(CONTENT, HEADER_START - SIZES.size)[1]
HEADER = json.loads(CONTENT[HEADER_START : HEADER_START + HEADER_SIZE])
PAYLOAD = CONTENT[HEADER_START + HEADER_SIZE : -CHECKSUM_SIZE]


def resigned(header, payload=PAYLOAD):
    return sealed(json.dumps(header).encode(), payload)


def complaint(content):
    """Load and use a file, and return what the InputError said, if there was one."""
    try:
        scorer = decode(content, "evil.rw")
        X = np.resize(X_EXAMPLE, (4, scorer.n_features)) if scorer.n_features < 100 else X_EXAMPLE
        given = {"init_score": np.zeros(len(X))} if scorer.needs_init_score else {}
        assert np.isfinite(scorer.predict(X, qid=1, **given)).all()
    except InputError as error:
        return str(error)
    return ""


def accepted_or_refused(content):
    sentence = complaint(content)
    assert len(sentence) < 500  # it names every kind of scorer there is
    assert "\n" not in sentence


def refused(content, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        decode(content, "evil.rw")
    assert str(caught.value).startswith("evil.rw ")


def feature_node(**changes):
    fields = {"feature": 1, "direction": 1, "n_features": 3, "missing": 0.0}
    return {"kind": "feature", "fields": fields | changes, "arrays": {}, "scorers": {}}


def linear_node(weights, missing, **fields):
    arrays = {"weights": weights, "missing": missing}
    return {"kind": "linear", "fields": {"intercept": 0.0} | fields, "arrays": arrays, "scorers": {}}


def combination_node(*members, n_weights=None):
    arrays = {"weights": ["float64", [len(members) if n_weights is None else n_weights]]}
    scorers = {f"member {number}": member for number, member in enumerate(members)}
    return {"kind": "combination", "fields": {}, "arrays": arrays, "scorers": scorers}


def header_of(node, feature_names=None, about=None):
    return {"feature_names": feature_names, "about": about or {}, "scorer": node}


THREE = ["float64", [3]]
ZEROS = bytes(48)


def test_the_honest_twin_is_accepted():
    assert decode(resigned(HEADER), "twin.rw").predict(X_EXAMPLE).tolist() == example().predict(X_EXAMPLE).tolist()
    decode(resigned(header_of(linear_node(THREE, THREE)), ZEROS), "twin.rw")


@pytest.mark.parametrize(
    ("node", "payload", "sentence"),
    [
        (feature_node(feature=3), b"", "feature must be from 0"),
        (feature_node(feature=-1), b"", "feature must be from 0"),
        (feature_node(feature=2**70, n_features=2**71), b"", "n_features must be from 1 to"),
        (feature_node(feature="1"), b"", "must be an integer"),
        (feature_node(feature=None), b"", "must be an integer"),
        (feature_node(direction=5), b"", "direction must be"),
        (feature_node(missing=[1]), b"", "finite number"),
        (feature_node(missing=10**400), b"", "finite number"),
        (feature_node(extra=1), b"", "has no field 'extra'"),
        (feature_node() | {"kind": "forest"}, b"", "knows no scorer of kind 'forest'"),
        (feature_node() | {"kind": ["linear"]}, b"", "knows no scorer of kind"),
        (feature_node() | {"kind": "x" * 10_000}, b"", "knows no scorer of kind"),
        (feature_node() | {"fields": []}, b"", "must be objects"),
        (feature_node() | {"fields": {}}, b"", "The field feature is missing"),
        (feature_node() | {"more": {}}, b"", "must be an object of kind, fields"),
        (feature_node() | {"arrays": {"w": THREE}}, ZEROS[:24], "has no array 'w'"),
        (feature_node(), b"12345678", "8 of its bytes belong to no array"),
        ([], b"", "must be an object of kind"),
        (None, b"", "must be an object of kind"),
        (linear_node(THREE, THREE), ZEROS[:40], "an array of shape .3. is cut short"),
        (linear_node(THREE, THREE), ZEROS + b"x", "belong to no array"),
        (linear_node(THREE, ["float64", [2]]), ZEROS[:40], "missing has shape"),
        (linear_node(["float32", [6]], THREE), ZEROS, "weights is float32"),
        (linear_node(["float64", [3, 1]], THREE), ZEROS, "of 2 dimension"),
        (linear_node(["float64", [0]], ["float64", [0]]), b"", "at least one feature"),
        (linear_node(["float64", [0, 2**62, 2**62]], THREE), ZEROS[:24], "an array cannot have shape"),
        (linear_node(["float64", [10**15]], THREE), ZEROS, "is cut short"),
        (linear_node(["float64", [10**4000, 10**4000]], THREE), ZEROS, "is cut short"),
        (linear_node(["float64", [-3]], THREE), ZEROS, "not the type and shape"),
        (linear_node(["float64", [-3, -1]], THREE), ZEROS, "not the type and shape"),
        (linear_node(["float64", [3.0]], THREE), ZEROS, "not the type and shape"),
        (linear_node(["float64", [True]], THREE), ZEROS, "not the type and shape"),
        (linear_node(["float64", 3], THREE), ZEROS, "not the type and shape"),
        (linear_node(["float64", [1, 1, 1, 3]], THREE), ZEROS, "not the type and shape"),
        (linear_node(["object", [3]], THREE), ZEROS, "not the type and shape"),
        (linear_node(["O,O", [3]], THREE), ZEROS, "not the type and shape"),
        (linear_node("float64", THREE), ZEROS, "not the type and shape"),
        (linear_node(THREE, THREE), struct.pack("<d", np.nan) + ZEROS[8:], r"weights\[0\] is nan"),
        (linear_node(THREE, THREE), ZEROS[8:] + struct.pack("<d", np.inf), r"missing\[2\] is inf"),
        (linear_node(THREE, THREE, intercept=True), ZEROS, "finite number"),
        (combination_node(), b"", "must be scorers"),
        (combination_node(feature_node(), n_weights=2), ZEROS[:16], "The scorer member 1 is missing"),
        (
            combination_node(feature_node(), feature_node(), n_weights=1),
            ZEROS[:8],
            "has no scorer 'member 1'",
        ),
        (combination_node(feature_node(), feature_node(n_features=2)), ZEROS[:16], "model 2 has 2, the first"),
        (
            combination_node(feature_node()) | {"scorers": {"member 0": "feature"}},
            ZEROS[:8],
            "must be an object",
        ),
    ],
)
def test_content_that_contradicts_itself(node, payload, sentence):
    content = resigned(header_of(node), payload)
    refused(content, sentence)
    accepted_or_refused(content)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (header_of(feature_node(), ["a", "b"]), "3 features but 2 feature names"),
        (header_of(feature_node(), ["a", "b", "a"]), "given twice"),
        (header_of(feature_node(), ["a", "b", 3]), "list of strings"),
        (header_of(feature_node(), [["a"], [], {}]), "list of strings"),
        (header_of(feature_node(), "abc"), "feature names and categories must be lists"),
        (header_of(feature_node(), about=[1]), "facts an object"),
        (header_of(feature_node(), about={"loss": float("nan")}), "about must hold plain JSON"),
        ({"scorer": feature_node()}, "must be an object of feature_names"),
        ([], "must be an object"),
        (7, "must be an object"),
    ],
)
def test_headers_that_do_not_fit(header, sentence):
    refused(resigned(header, b""), sentence)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"[" * 1_000_000,
        b'{"a":' * 100_000,
        b"1" * 10_000,
        b'{"scorer": __import__("os")}',
    ],
)
def test_headers_that_are_not_json(header):
    refused(sealed(header, b""), "header is not JSON|must be an object")


@pytest.mark.parametrize("depth", [MAX_FACTS_DEPTH, 900, 100_000])
def test_facts_nested_too_deeply(depth):
    text = json.dumps(header_of(feature_node())).replace(
        '"about": {}', '"about": {"a": ' + "[" * depth + "]" * depth + "}"
    )
    refused(sealed(text.encode(), b""), "nested")


def test_facts_nested_as_deeply_as_allowed():
    facts = {"b": 1}
    for _ in range(MAX_FACTS_DEPTH - 1):
        facts = {"a": facts}
    assert decode(resigned(header_of(feature_node(), about=facts), b""), "deep.rw").about == facts


def test_depth_is_cut_off():
    node = feature_node()
    for _ in range(MAX_DEPTH - 1):
        node = combination_node(node)
    decode(resigned(header_of(node), bytes(8 * (MAX_DEPTH - 1))), "deep.rw")
    refused(resigned(header_of(combination_node(node)), bytes(8 * MAX_DEPTH)), "nests more than 16 scorers")
    for _ in range(80):
        node = combination_node(node)
    refused(resigned(header_of(node), bytes(8 * 200)), "nests more than 16 scorers")


@pytest.mark.parametrize("header_size", [len(CONTENT), 17 << 20, 2**63, 2**64 - 1])
def test_a_header_size_that_lies(header_size):
    lying = bytearray(CONTENT[:-CHECKSUM_SIZE])
    SIZES.pack_into(lying, HEADER_START - SIZES.size, len(CONTENT), header_size)
    refused(bytes(lying) + hashlib.sha256(lying).digest(), f"header cannot have {header_size} bytes")


@pytest.mark.parametrize("size", [0, 67, len(CONTENT) - 1, len(CONTENT) + 1, 2**64 - 1])
def test_a_file_size_that_lies(size):
    lying = bytearray(CONTENT)
    SIZES.pack_into(lying, HEADER_START - SIZES.size, size, HEADER_SIZE)
    refused(bytes(lying), "is cut short" if size > len(CONTENT) else "altered or damaged")


@given(st.binary(max_size=200))
def test_any_bytes_after_the_magic(noise):
    accepted_or_refused(CONTENT[:15] + noise)


@given(st.binary(max_size=400), st.binary(max_size=100))
def test_any_sealed_bytes(header, payload):
    accepted_or_refused(sealed(header, payload))


@given(
    st.lists(
        st.tuples(st.integers(0, HEADER_SIZE + len(PAYLOAD) - 1), st.integers(0, 255)), min_size=1, max_size=4
    )
)
@examples(500)
def test_any_bytes_changed_under_a_right_checksum(changes):
    body = bytearray(CONTENT[HEADER_START:-CHECKSUM_SIZE])
    for place, byte in changes:
        body[place] = byte
    accepted_or_refused(sealed(bytes(body[:HEADER_SIZE]), bytes(body[HEADER_SIZE:])))


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(
        ["linear", "feature", "combination", "float32", "int64", 2**63, -1, 3, [3], ["float64", [3]]]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=6,
)


def places(value, path=()):
    """Yield the path of every part of a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def put(value, path, new):
    """Return a copy of a JSON value in which one part is another, or gone."""
    if not path:
        return new
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if new is Ellipsis:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return value


@given(st.sampled_from(sorted(places(HEADER), key=repr)), junk | st.just(...), st.binary(max_size=16))
@with_example((), {}, b"")
@examples(1000)
def test_any_part_of_the_header_changed(path, new, more_payload):
    if path == () and new is Ellipsis:
        new = None
    accepted_or_refused(resigned(put(HEADER, path, new), PAYLOAD + more_payload))


@given(st.sampled_from(sorted(places(HEADER), key=repr)), st.sampled_from(sorted(places(HEADER), key=repr)))
@examples(500)
def test_any_part_of_the_header_moved(path, source):
    part = HEADER
    for key in source:
        part = part[key]
    accepted_or_refused(resigned(put(HEADER, path, part)))


def test_the_sentence_names_the_kind_it_does_not_know():
    content = sealed(re.sub(b'"linear"', b'"lunar"', CONTENT[HEADER_START : HEADER_START + HEADER_SIZE]), PAYLOAD)
    refused(content, "knows no scorer of kind 'lunar', only .*combination")


def test_two_of_very_many_names_are_found_alike_at_once():
    names = [str(number) for number in range(200_000)] + ["x" * 1000, "x" * 1000]
    sentence = complaint(sealed(json.dumps(header_of(feature_node(n_features=len(names)), names)).encode(), b""))
    assert "is given twice" in sentence, "looking back from each name would take hours"
    assert len(sentence) < 200


def within(inner, *columns, raw=True):
    """Return the node of a scorer of columns made within the query."""
    fields = {"columns": list(columns)} | ({} if raw else {"raw": False})
    return {"kind": "query_features", "fields": fields, "arrays": {}, "scorers": {"inner": inner}}


def nested_columns(levels, n_features=None):
    node = feature_node(feature=0, n_features=2 * 4**levels if n_features is None else n_features)
    for _ in range(levels):
        node = within(node, "zscore", "rank", "minmax")
    return node


def empty_trees(n_features):
    float64, int32 = ["float64", [0]], ["int32", [0]]
    arrays = {"splits": ["int64", [1]], "feature": int32, "threshold": ["float32", [0]]}
    arrays |= {"missing_left": ["uint8", [0]], "left": int32, "right": int32}
    arrays |= {"leaf_value": float64, "gain": float64, "cover": float64}
    return {"kind": "trees", "fields": {"n_features": n_features}, "arrays": arrays, "scorers": {}}


def wide_layer(n_features):
    """Return the node of a network without hidden units: none of its features takes a byte."""
    empty = ["float64", [0]]
    arrays = {"weights": ["float64", [n_features, 0]], "intercepts": empty, "output_weights": empty}
    return {"kind": "hidden_layer", "fields": {"intercept": 0.0}, "arrays": arrays, "scorers": {}}


@pytest.mark.parametrize(
    ("node", "payload", "sentence"),
    [
        (nested_columns(3), b"", "64 columns of each feature; at most 16"),
        (nested_columns(11), b"", "4194304 columns of each feature|64 columns of each feature"),
        (nested_columns(15, 2**31 - 1), b"", "n_features must be from 1 to"),
        (within(nested_columns(2), "rank"), b"", "32 columns of each feature"),
        (within(combination_node(nested_columns(2)), "rank"), ZEROS[:8], "32 columns of each feature"),
        (feature_node(n_features=MAX_FEATURES + 1), b"", "n_features must be from 1 to 16777216, not 16777217"),
        (feature_node(n_features=2**31 - 1), b"", "n_features must be from 1 to"),
        (empty_trees(2**31 - 1), bytes(8), "n_features must be from 1 to"),
        (wide_layer(2**40), b"", "n_features must be from 1 to"),
    ],
)
def test_a_file_that_claims_more_than_it_holds(node, payload, sentence):
    content = resigned(header_of(node), payload)
    assert len(content) < 4096
    refused(content, sentence)


def categories_header(names, *categories):
    return header_of(feature_node(n_features=len(names), feature=0), list(names)) | {
        "categories": list(categories)
    }


def category(name="c", values=("a",), one_hot=False, **more):
    return {"name": name, "values": list(values), "one_hot": one_hot, **more}


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (categories_header("xc", category("d")), "category 'd' lacks its feature 'd'"),
        (categories_header("xc", category(), category()), "A category is given twice"),
        (categories_header("xc", category(one_hot=True)), "lacks its feature 'c=a'"),
        (categories_header("xc", category(values=["a", "a"])), "different values"),
        (categories_header("xc", category(values=[["a"]])), "a list of texts as values"),
        (categories_header("xc", category(name=None)), "must have a name"),
        (categories_header("xc", category(one_hot=1)), "one_hot as True or False"),
        (categories_header("xc", category(more=1)), "must be an object of name, values, one_hot"),
        (categories_header("xc", "c"), "must be an object of name, values, one_hot"),
        (categories_header("xc") | {"categories": {}}, "categories must be lists"),
        (categories_header("xc", category("x" * 4000, map(str, range(500)), one_hot=True)), "lacks its feature"),
        (header_of(feature_node()) | {"categories": [category()]}, "lacks its feature 'c'"),
        (header_of(feature_node()) | {"others": []}, "must be an object of feature_names, categories"),
    ],
)
def test_hostile_categories(header, sentence):
    refused(resigned(header, b""), sentence)


def test_honest_categories_are_accepted():
    names = ("x", "c=a", "c=b", "d")
    header = categories_header(names, category("d", ["u", "v"]), category("c", ["a", "b"], one_hot=True))
    scorer = decode(resigned(header, b""), "twin.rw")
    assert [one.name for one in scorer.categories] == ["d", "c"]
    assert encode(decode(encode(scorer), "again.rw")) == encode(scorer)


WITHIN_MEMORY = """
import resource, sys
import numpy as np
from rankwright.cli.options.data_files import ReadOptions
from rankwright.cli.verbs.info import info
from rankwright.base.errors import InputError
from rankwright.models import load

with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
limit = used + (256 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from pathlib import Path
for path in sys.argv[1:]:
    try:
        scorer = load(path)
        info(file=Path(path), reading=ReadOptions(), json=False)
        info(file=Path(path), reading=ReadOptions(), json=True)
        if scorer.n_features < 100:
            scorer.predict(np.ones((4, scorer.n_features)), 1, n_jobs=1)
    except InputError as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
def test_small_files_need_little_memory(tmp_path):
    deep = json.dumps(header_of(feature_node(), about={"a": "deep"})).replace('"deep"', "[" * 900 + "]" * 900)
    files = {
        "columns": resigned(header_of(nested_columns(13)), b""),
        "most_columns": resigned(header_of(nested_columns(2)), b""),
        "feature": resigned(header_of(feature_node(n_features=2**31 - 1)), b""),
        "most_features": resigned(header_of(feature_node(n_features=MAX_FEATURES)), b""),
        "trees": resigned(header_of(empty_trees(2**31 - 1)), bytes(8)),
        "most_trees": resigned(header_of(empty_trees(MAX_FEATURES)), bytes(8)),
        "layer": resigned(header_of(wide_layer(2**31 - 1)), b""),
        "facts": sealed(deep.encode(), b""),
    }
    for name, content in files.items():
        assert len(content) < 8192
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in files]
    done = subprocess.run(
        [sys.executable, "-c", WITHIN_MEMORY, *paths], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("does not hold a usable model") == 5
