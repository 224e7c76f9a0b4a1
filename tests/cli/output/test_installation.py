"""`rankwright doctor`."""

import pytest

import rankwright as rw
from rankwright.cli.output.installation import Installation, Package, this_installation


def test_it_says_what_is_installed(run):
    facts = run("doctor", "--json").json
    assert facts["vector_path"] in ("portable", "avx2", "avx512")
    assert facts["threads"] >= 1
    states = {package["name"]: package["state"] for package in facts["packages"]}
    assert states["numpy"] == states["scikit-learn"] == states["altair"] == "ok"
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    assert out.startswith("rankwright 0.1.0 works; a model was fitted and scored in ")
    assert "altair" in out


def test_a_forced_path_is_named(run, monkeypatch):
    monkeypatch.setenv("RANKWRIGHT_SIMD", "portable")
    assert run("doctor", "--json").json["vector_path"].endswith(", as RANKWRIGHT_SIMD says")


@pytest.mark.parametrize(
    ("packages", "sentence"),
    [
        ([Package("absent", "1.0", None)], "scores and trains trees; for more: pip install absent."),
        ([Package("numpy", "999.0", "fast")], "works, but numpy is too old: pip install -U numpy."),
        ([Package("no-such-package", "1.0", "fast")], "works; a model was fitted and scored in 0.1 s."),
    ],
)
def test_what_is_missing_comes_first(packages, sentence):
    assert Installation({"self-test": "0.1 s"}, packages).summary == f"rankwright 0.1.0 {sentence}"


def test_a_model_that_comes_back_different_is_an_error(monkeypatch):
    other = rw.LambdaMART(rounds=2).fit(rw.synthetic.gaussian_queries(20, seed=1)).model_
    monkeypatch.setattr("rankwright.models.model_file.decode", lambda *_: other)
    with pytest.raises(RuntimeError, match="other scores"):
        this_installation()


def test_versions_are_compared_as_numbers():
    assert Package("numpy", "1.26.10", None).state == "ok"
    assert Package("numpy", "2.0.0rc1", None).state == "ok"
