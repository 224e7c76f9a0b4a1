"""Files as other tools and collections write them, each read or met with a hint."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import rankwright as rw
from rankwright.data.readers.fold_folders import read_fold


@pytest.fixture
def write(tmp_path):
    def write_file(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write_file


def facts(data):
    return data.X.tolist(), data.y.tolist(), data.qid.tolist()


LIGHTGBM = "2 1:0.5 3:1\n0 2:0.25\n1 1:1 2:1 3:1\n"
MATRIX = [[0.5, 0, 1], [0, 0.25, 0], [1, 1, 1]]


@pytest.mark.parametrize("suffix", [".query", ".group"])
@pytest.mark.parametrize("name", ["rank.train", "rank.txt.gz"])
def test_sizes_of_queries_beside_the_file_as_lightgbm_and_xgboost_have_them(write, name, suffix):
    path = write(name, LIGHTGBM)
    write(name + suffix if suffix == ".query" else name.removesuffix(".gz") + suffix, "1\n2\n")
    assert facts(rw.read_letor(path)) == (MATRIX, [2, 0, 1], [1, 2, 2])
    documents = rw.read_letor(path, judged=False)
    assert (documents.X.tolist(), documents.qid.tolist()) == (MATRIX, [1, 2, 2])


def test_documents_without_labels_and_without_qid(write):
    path = write("new.txt", "1:0.5 3:1\n2:0.25\n7 1:1 2:1 3:1\n")
    write("new.txt.query", "3\n")
    assert rw.read_letor(path, judged=False).X.tolist() == MATRIX


def test_a_file_with_qid_needs_no_sizes(write):
    path = write("train.txt", "1 qid:8 1:1\n0 qid:9 1:2\n")
    write("train.txt.query", "nonsense")
    assert rw.read_letor(path).qid.tolist() == [8, 9]


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ("1\n1\n", "The sizes in {0}.query sum to 2, but {0} has 3 documents."),
        ("1\n\n-2\n", "{0}.query, line 3: expected the number of documents of a query, found '-2'."),
        ("1 2\n", "{0}.query, line 1: expected the number of documents of a query, found '1 2'."),
        ("", "The sizes in {0}.query sum to 0, but {0} has 3 documents."),
    ],
)
def test_sizes_that_cannot_be(write, sizes, sentence):
    path = write("train.txt", LIGHTGBM)
    write("train.txt.query", sizes)
    with pytest.raises(rw.InputError) as caught:
        rw.read_letor(path)
    assert str(caught.value) == sentence.format(path)


@pytest.mark.parametrize(("name", "delimiter"), [("train.csv", ","), ("train.tsv", "\t"), ("train.csv.gz", ",")])
def test_sizes_beside_a_table_without_query_ids(write, name, delimiter):
    path = write(name, "label,a,b\n2,0.5,1\n0,0.25,3\n1,7,8\n".replace(",", delimiter))
    with pytest.raises(rw.InputError, match="There is no column 'qid'"):
        rw.read_csv(path)
    write(name.removesuffix(".gz") + ".query", "2\n1\n")
    data = rw.read_csv(path)
    assert facts(data) == ([[0.5, 1], [0.25, 3], [7, 8]], [2, 0, 1], [1, 1, 2])
    assert data.feature_names == ("a", "b")
    assert rw.read_csv(path, label=None, features=["b"]).X.tolist() == [[1], [3], [8]]
    write(name.removesuffix(".gz") + ".query", "2\n")
    with pytest.raises(rw.InputError, match="sum to 2, but "):
        rw.read_csv(path)


def test_weights_beside_the_file_are_not_used_in_silence(write):
    path = write("train.txt", "1 qid:8 1:1\n")
    write("train.txt.weight", "1.5\n")
    with pytest.warns(UserWarning, match=r"train\.txt\.weight is not read; pass weights to fit as sample_weight"):
        rw.read_letor(path)
    path = write("train.csv", "qid,label,a\n1,0,2\n")
    write("train.csv.weight", "1.5\n")
    with pytest.warns(UserWarning, match=r"train\.csv\.weight is not read"):
        rw.read_csv(path)


def test_yandex_has_the_query_in_the_comment(write):
    """Internet Mathematics 2009: `relevance feature:value ... # query`."""
    path = write("imat2009.txt", "1 8:1 10:0.702 # 20\n0.07 8:0.5 # 20\n2 10:1 # 4\n")
    data = rw.read_letor(path)
    assert (data.y.tolist(), data.qid.tolist(), data.document_ids) == ([1, 0.07, 2], [20, 20, 4], None)


@pytest.mark.parametrize("comment", ["# qid:{} docid = {}", "#qid = {} docid={}", "# docid = {1} qid: {0}"])
def test_comments_that_name_query_and_document(write, comment):
    lines = (f"0 1:{row} {comment.format(query, f'D{row}')}\n" for row, query in enumerate("ab"))
    data = rw.read_letor(write("train.txt", "".join(lines)))
    assert (data.qid.tolist(), data.document_ids.tolist()) == (["a", "b"], ["D0", "D1"])


def test_comments_that_are_no_query_ids(write):
    path = write("train.txt", "0 1:2 # D1\n1 1:3 # D2\n")
    with pytest.raises(rw.InputError) as caught:
        rw.read_letor(path)
    assert str(caught.value) == (
        f"{path} names no queries: lines have no qid:ID, and as all comments differ, they are no query ids; add "
        f"qid:ID after each label, or write the number of documents of each query, one per line, to {path}.query."
    )


def test_a_line_without_the_comment_that_the_first_has(write):
    path = write("train.txt", "0 1:2 # 7\n1 1:3\n")
    with pytest.raises(
        rw.InputError, match="line 2: expected a comment with the query id, as the first line has it"
    ):
        rw.read_letor(path)


def test_no_queries_at_all(write):
    path = write("train.txt", "\n# a header\n0 1:2\n1 1:3\n")
    hint = f"expected qid:ID, found '1:2'; add qid:ID after each label, .* one per line, to {re.escape(str(path))}"
    with pytest.raises(rw.InputError, match=f"line 3: {hint}.query"):
        rw.read_letor(path)


def test_yahoo_mslr_ranklib_and_xgboost_styles(write):
    yahoo = rw.read_letor(write("set1.train.txt", "1 qid:1 10:0.89028 11:0.75088\n0 qid:1 10:0.5\n"))
    assert (yahoo.n_features, yahoo.qid.tolist(), yahoo.document_ids) == (11, [1, 1], None)
    mslr = rw.read_letor(write("mslr.txt", "2 qid:1 1:3 2:3 3:0 \n0 qid:16 1:0 2:1 3:0 \n"))
    assert facts(mslr) == ([[3, 3, 0], [0, 1, 0]], [2, 0], [1, 16])
    ranklib = rw.read_letor(write("ranklib.txt", "3 qid:1 1:1 2:1 # 1A\n2 qid:1 1:0 2:0 # 1B\n"))
    assert ranklib.document_ids.tolist() == ["1A", "1B"]
    xgboost = rw.read_letor(write("xgboost.txt", "1 qid:1 101:1.2 102:0.03\n0 qid:1 1:2.1 10001:300\n"))
    assert (xgboost.n_features, xgboost.X[1, 10_000]) == (10_001, 300)


def test_features_numbered_from_0_are_read_on_request(tmp_path):
    X, y, qid = np.array([[0.5, 0, 1], [0, 0.25, 0]]), [1, 0], [7, 7]
    path = tmp_path / "sklearn.txt"
    dump_svmlight_file(X, y, str(path), query_id=qid)
    with pytest.raises(rw.InputError, match=r"found '0:0\.5'; if the file numbers features from 0, set zero"):
        rw.read_letor(path)
    assert facts(rw.read_letor(path, zero_based=True)) == (X.tolist(), y, qid)
    for name in ("train.txt", "vali.txt", "test.txt"):
        dump_svmlight_file(X, y, str(tmp_path / name), query_id=qid)
    assert read_fold(tmp_path, zero_based=True).test.X.tolist() == X.tolist()


@pytest.mark.parametrize("read", [rw.read_csv, rw.read_letor, rw.read_run, rw.read_judgements])
@pytest.mark.parametrize("name", ["lines.csv", "lines.csv.gz"])
def test_a_file_of_empty_lines_is_refused_at_its_first_block(write, read, name):
    path = write(name, "\n" * (10 << 20))
    with pytest.raises(rw.InputError, match=r"4,194,304 bytes of empty lines in a row"):
        read(path)


def test_some_empty_lines_are_skipped(write):
    path = write("run.txt", "\n" * (3 << 20) + "q Q0 d 1 0.5 x\n" + "\n" * (3 << 20) + "q Q0 e 2 0.4 x")
    assert rw.read_run(path).document_ids.tolist() == ["d", "e"]
    with pytest.raises(rw.InputError, match=r"line 3145729: Found 2 columns"):
        rw.read_run(write("run.txt", "\n" * (3 << 20) + "q Q0\n"))


def test_a_run_in_one_endless_line_is_refused(write):
    with pytest.raises(rw.InputError, match=r"line 1: expected at most 67,108,864 bytes per line"):
        rw.read_run(write("run.txt.gz", "q" * (80 << 20)))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_a_run_end_as_any_system_ends_them(write, end):
    path = write("run.txt", "\ufeff" + end.join(["q Q0 d 1 0.5 x", "q Q0 e 2 0.4 x", ""]))
    assert rw.read_run(path).document_ids.tolist() == ["d", "e"]
