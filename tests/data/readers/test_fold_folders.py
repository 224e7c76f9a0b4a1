from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.data.readers.fold_folders import (
    find_folds,
    is_fold,
    read_fold,
    read_test_part,
    read_training_parts,
)
from shared_data import SHARED, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path


def make_fold(folder: Path, names: tuple[str, str, str]) -> Path:
    for label, name in enumerate(names):
        text = f"{label} qid:1 1:1 {label + 2}:5\n".encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return folder


@pytest.mark.parametrize(
    "names",
    [
        ("train.txt", "vali.txt", "test.txt"),
        ("trainingset.txt", "validationset.txt", "testset.txt"),
        ("train.txt", "valid.txt", "test.txt"),
        ("train.txt.gz", "validation.txt.gz", "test.txt"),
    ],
)
def test_reads_every_collections_names(tmp_path, names):
    train, valid, test = read_fold(make_fold(tmp_path, names))
    assert [part.y.tolist() for part in (train, valid, test)] == [[0], [1], [2]]


def test_the_parts_have_the_same_features(tmp_path):
    make_fold(tmp_path, ("train.txt", "vali.txt", "test.txt"))
    assert [part.X.tolist() for part in read_fold(tmp_path)] == [
        [[1, 5, 0, 0]],
        [[1, 0, 5, 0]],
        [[1, 0, 0, 5]],
    ]
    np.testing.assert_array_equal(read_fold(tmp_path, absent=np.nan).train.X, [[1, 5, np.nan, np.nan]])
    assert read_fold(tmp_path, n_features=6).valid.n_features == 6


def test_a_part_that_is_not_there_is_named(tmp_path):
    make_fold(tmp_path, ("train.txt", "vali.txt", "other.txt"))
    with pytest.raises(InputError) as caught:
        read_fold(tmp_path)
    looked_for = "test.txt, testset.txt, plain or .gz"
    assert str(caught.value) == f"{tmp_path} is not a complete fold: looked for {looked_for}."
    with pytest.raises(InputError, match=r"There is no folder .*nowhere\."):
        read_fold(tmp_path / "nowhere")


def test_the_parts_to_learn_from_need_no_test_part(tmp_path):
    assert not is_fold(tmp_path)
    make_fold(tmp_path, ("trainingset.txt.gz", "vali.txt", "other.txt"))
    assert is_fold(tmp_path)
    assert [part.X.tolist() for part in read_training_parts(tmp_path)] == [[[1, 5, 0]], [[1, 0, 5]]]
    (tmp_path / "vali.txt").unlink()
    with pytest.raises(InputError, match=r"is not a complete fold: looked for vali\.txt"):
        read_training_parts(tmp_path)


def test_the_test_part_needs_no_other(tmp_path):
    make_fold(tmp_path, ("other.txt", "another.txt", "testset.txt"))
    with pytest.raises(InputError, match="is not a complete fold"):
        read_training_parts(tmp_path)
    assert len(read_test_part(tmp_path)) == 1


def test_folds_come_by_number(tmp_path):
    for name in ("Fold10", "Fold2", "Fold1", "Folder", "Fold"):
        (tmp_path / name).mkdir()
    (tmp_path / "Fold3").write_text("not a folder")
    assert [path.name for path in find_folds(tmp_path)] == ["Fold1", "Fold2", "Fold10"]
    with pytest.raises(InputError, match="contains no folds: looked for folders Fold1, Fold2 and so on"):
        find_folds(tmp_path / "Fold1")
    with pytest.raises(InputError, match="There is no folder"):
        find_folds(tmp_path / "nowhere")


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "n_queries", "n_documents", "n_features"),
    [("OHSUMED", 106, 16_140, 45), ("MQ2008", 784, 15_211, 46)],
)
def test_real_folds(name, n_queries, n_documents, n_features):
    folds = find_folds(SHARED / "letor" / name)
    assert len(folds) == 5
    for folder in folds:
        parts = read_fold(folder)
        assert {part.n_features for part in parts} == {n_features}
        assert sum(len(part) for part in parts) == n_documents
        assert sum(len(part.groups) for part in parts) == n_queries
        assert all(part.document_ids is not None for part in parts)
