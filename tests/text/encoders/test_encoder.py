"""Encoders of ONNX folders and other libraries, and what is refused."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import rankwright as rw
from rankwright.text import Encoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model that makes the one-hot vector of each token, over a vocabulary of five words."""
    onnx = pytest.importorskip("onnx")
    tokenizers = pytest.importorskip("tokenizers")
    pytest.importorskip("onnxruntime")
    made = tmp_path_factory.mktemp("encoder")
    words = {"[UNK]": 0, "lift": 1, "wing": 2, "heat": 3, "flow": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(made / "tokenizer.json"))
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    ids, vectors = (
        helper.make_tensor_value_info(name, kind, shape)
        for name, kind, shape in (
            ("input_ids", onnx.TensorProto.INT64, ["n", "tokens"]),
            ("vectors", onnx.TensorProto.FLOAT, ["n", "tokens", 5]),
        )
    )
    table = numpy_helper.from_array(np.eye(5, dtype=np.float32), "table")
    node = helper.make_node("Gather", ["table", "input_ids"], ["vectors"])
    graph = helper.make_graph([node], "tokens", [ids], [vectors], [table])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), made / "model.onnx"
    )
    return made


def test_an_onnx_folder_is_mean_pooled_and_read_again(folder, tmp_path):
    encoder = Encoder.load(folder, "tokens")
    np.testing.assert_allclose(
        encoder.queries(["lift wing", "heat heat flow", "lift"]),
        [[0, 0.5**0.5, 0.5**0.5, 0, 0], [0, 0, 0, 2 / 5**0.5, 1 / 5**0.5], [0, 1, 0, 0, 0]],
        atol=1e-6,
    )
    documents = [rw.text.TextDocument(word, {"text": word}) for word in ("lift", "wing", "heat flow")]
    rw.text.Index.build(documents, tmp_path / "index").encode(encoder)
    again = rw.text.Index.open(tmp_path / "index")
    assert again.search("flow heat", rw.text.Dense(), n=1).ids == ["heat flow"]
    first = Encoder.load(folder, "tokens", pooling="cls")
    np.testing.assert_allclose(first.queries(["lift wing"]), [[0, 1, 0, 0, 0]], atol=1e-6)
    with pytest.raises(rw.InputError, match="another encoder tokens: its checksum is"):
        rw.text.Index.open(tmp_path / "index", encoders=[first])


def test_what_is_no_encoder_is_refused(folder, tmp_path):
    with pytest.raises(rw.InputError, match=r"There is no folder .*with model.onnx and tokenizer.json"):
        Encoder.load(tmp_path / "none")
    with pytest.raises(rw.InputError, match=r"has no model.onnx"):
        Encoder.load(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_text("this is no model")
    with pytest.raises(rw.InputError, match=r"model.onnx is not an ONNX model that onnxruntime can run"):
        Encoder.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(rw.InputError, match=r"tokenizer.json is not a tokenizer"):
        Encoder.load(tmp_path)
    with pytest.raises(rw.InputError, match="pooling must be mean or cls"):
        Encoder.load(folder, pooling="max")
    for tokens in (0, -1, True, 1.5):
        with pytest.raises(rw.InputError, match="max_tokens must be a positive integer"):
            Encoder.load(folder, max_tokens=tokens)
    with pytest.raises(rw.InputError, match="must be a function of a list of texts"):
        Encoder(3, "x")
    with pytest.raises(rw.InputError, match="name of an encoder must be letters"):
        Encoder(len, "my encoder: 1")


def test_a_model_of_another_library_is_read_again(tmp_path, monkeypatch):
    class StaticModel:
        @classmethod
        def from_pretrained(cls, name):
            model = cls()
            model.letters = name.rpartition("/")[2]
            return model

        def encode(self, texts):
            return [[text.count(letter) for letter in self.letters] for text in texts]

    monkeypatch.setitem(sys.modules, "model2vec", SimpleNamespace(StaticModel=StaticModel))
    documents = [rw.text.TextDocument(word, {"text": word}) for word in ("lift", "wing")]
    rw.text.Index.build(documents, tmp_path / "index").encode(Encoder.load("model2vec:org/wing"))
    again = rw.text.Index.open(tmp_path / "index")
    assert again.search("wing", rw.text.Dense("wing"), n=1).ids == ["wing"]
    with pytest.raises(rw.InputError, match="another encoder wing: the two make different vectors"):
        rw.text.Index.open(tmp_path / "index", encoders=[Encoder.load("model2vec:org/lift", "wing")])


def test_absent_packages_are_named():
    with pytest.raises(rw.MissingPackageError, match="needs a package: pip install sentence-transformers"):
        Encoder.load("sentence-transformers:all-MiniLM-L6-v2")
