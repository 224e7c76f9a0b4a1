"""Cached fits: written whole or not at all, checked when they are read, and those of other runs refused.

`tests/auto/test_cached_fits.py` and `tests/papers/test_framework.py` have runs that are killed and resumed.
"""

import json

import numpy as np
import pytest

from rankwright.base import fit_cache as module
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.fit_cache import Encoding, FitCache, read_arrays


def write(fit, path):
    with write_whole(path) as file:
        file.write(json.dumps(fit).encode())


JSON = Encoding(lambda path: json.loads(path.read_bytes()), write)


@pytest.fixture
def cache(tmp_path):
    return FitCache(tmp_path / "work")


def test_what_was_written_is_read(cache):
    path = cache.path("Lambda MART!", "Fold1", settings="rounds=3").with_suffix(".json")
    assert cache.read(path, JSON) is None
    cache.write([1, 2], path, JSON)
    assert cache.read(path, JSON) == [1, 2]
    assert path.name.startswith("lambda-mart-fold1-")


def test_other_settings_have_another_file(cache):
    one, other = (cache.path("a", settings=settings) for settings in ("rounds=3", "rounds=4"))
    assert one != other
    assert one == cache.path("a", settings="rounds=3")


def test_long_names_are_cut(cache):
    assert len(cache.path("x" * 1000, settings="").name) < 140


def test_an_invalid_file_is_as_none_with_a_warning(cache):
    path = cache.path("a", settings="")
    path.write_bytes(b"{")
    with pytest.warns(UserWarning, match="cannot be read and is fitted again: "):
        assert cache.read(path, JSON) is None


def test_a_fit_that_cannot_be_written_leaves_nothing(cache):
    path = cache.path("a", settings="")
    with pytest.raises(TypeError):
        cache.write({"x": object()}, path, JSON)
    assert not list(cache.folder.iterdir())


def test_a_changed_shape_is_noticed(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, scores=np.ones((12, 2000)))
    np.testing.assert_array_equal(read_arrays(path)["scores"], np.ones((12, 2000)))
    path.write_bytes(path.read_bytes().replace(b"(12, ", b"(1 , "))
    with np.load(path) as arrays:
        assert arrays["scores"].shape == (1, 2000)
    with pytest.raises(InputError, match=r"^its scores\.npy is damaged$"):
        read_arrays(path)


def test_a_manifest_makes_the_folder_that_of_one_run(tmp_path, monkeypatch):
    FitCache(tmp_path / "work", {"data": "abc", "seed": 1})
    FitCache(tmp_path / "work", {"data": "abc", "seed": 1})
    with pytest.raises(InputError, match="belongs to a run that differs in data and seed: choose another folder"):
        FitCache(tmp_path / "work", {"data": "def", "seed": 2})
    monkeypatch.setattr(module, "__version__", "99.0")
    with pytest.raises(InputError, match="that differs in rankwright:"):
        FitCache(tmp_path / "work", {"data": "abc", "seed": 1})


def test_folders_that_cannot_be_used_are_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        FitCache(tmp_path / "file" / "work")
    with pytest.raises(InputError, match="must be new, empty, or that of an earlier run"):
        FitCache(tmp_path, {"data": "abc"})
    monkeypatch.setattr(module.os, "access", lambda _path, _mode: False)
    with pytest.raises(InputError, match="cannot be written to"):
        FitCache(tmp_path)
