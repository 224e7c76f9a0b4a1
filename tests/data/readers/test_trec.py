import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.base.errors import InputError
from rankwright.data.judged_runs import judge
from rankwright.data.readers.judgements import read_judgements
from rankwright.data.readers.trec import Judgements, Run, format_run, read_run, write_run

JUDGEMENTS = "q1 0 a 2\nq1 0 b 0\nq1\t0\tc\t1\r\n\nq2 0 a 0.5\nq3 0 z 1\n"
RUN = "q2 Q0 a 1 0.25 mine\nq1 Q0 x 1 3e0 mine\nq1 Q0 a 2 2 mine\nq4 Q0 y 1 -inf mine\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize("name", ["qrels.txt", "qrels.txt.gz"])
def test_reads_judgements(write, name):
    judgements = read_judgements(write(JUDGEMENTS, name))
    assert judgements.qid.tolist() == ["q1", "q1", "q1", "q2", "q3"]
    assert judgements.document_ids.tolist() == ["a", "b", "c", "a", "z"]
    assert judgements.labels.tolist() == [2, 0, 1, 0.5, 1]


@pytest.mark.parametrize("name", ["run.txt", "run.txt.gz"])
def test_reads_a_run(write, name):
    run = read_run(write(RUN, name))
    assert run.qid.tolist() == ["q2", "q1", "q1", "q4"]
    assert run.document_ids.tolist() == ["a", "x", "a", "y"]
    assert run.scores.tolist() == [0.25, 3.0, 2.0, -np.inf]
    assert run.tag == "mine"


def test_scores_rank_a_run_whatever_its_rank_column_says(write):
    run = read_run(write("q Q0 a 1 1.0 t\nq Q0 b 2 2.0 t\n"))
    assert run.ranking().ranks().tolist() == [2, 1]


def test_empty_files_hold_nothing(write):
    assert len(read_judgements(write(""))) == len(read_run(write("\n\n"))) == 0


def test_a_byte_order_mark_is_no_part_of_the_first_id(write):
    assert read_judgements(write("\ufeffq1 0 a 1\n")).qid.tolist() == ["q1"]


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (
            read_judgements,
            "q 0 a 1\n\nq 0 b\n",
            "line 3: Found 3 columns, expected 4: query iteration document label",
        ),
        (read_judgements, "q 0 a good\n", "line 1: The label 'good' is not a number."),
        (read_judgements, "q 0 a inf\n", "line 1: The label 'inf' is not a number."),
        (read_judgements, "q 0 a 1\nr 0 a 1\nq 0 a 1\n", "line 3: Document 'a' occurs twice in query 'q'."),
        (read_run, "q Q0 a 1 0.5\n", "line 1: Found 5 columns, expected 6: query Q0 document rank score tag"),
        (read_run, "q Q0 a 1 high t\n", "line 1: The score 'high' is not a number."),
        (read_run, "q Q0 a 1 nan t\n", "line 1: The score 'nan' is not a number."),
        (read_run, "q Q0 a 1 2 t\nq Q0 a 2 1 t\n", "line 2: Document 'a' occurs twice in query 'q'."),
    ],
)
def test_a_bad_line_is_named(write, read, text, sentence):
    path = write(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, {sentence}")


def test_other_than_text_is_refused(tmp_path):
    path = tmp_path / "run.bin"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        read_run(path)


@pytest.mark.parametrize("read", [read_judgements, read_run])
def test_a_file_that_cannot_be_read_is_told_in_one_sentence(tmp_path, read):
    (tmp_path / "cut.gz").write_bytes(gzip.compress(RUN.encode())[:12])
    (tmp_path / "plain.gz").write_text(RUN)
    for name, sentence in (
        ("nowhere", "There is no file"),
        ("", "is a folder, not a file"),
        ("cut.gz", "is not a complete gzip file"),
        ("plain.gz", "is not a complete gzip file"),
    ):
        with pytest.raises(InputError, match=sentence):
            read(tmp_path / name)


def test_a_run_is_written_best_first_and_earlier_row_first_between_equals():
    run = Run.of([7, 3, 7, 7], ["a", "b", "c", "d"], [1, 2, 5, 5], tag="mine")
    assert format_run(run).splitlines() == [
        "7 Q0 c 1 5.0 mine",
        "7 Q0 d 2 5.0 mine",
        "7 Q0 a 3 1.0 mine",
        "3 Q0 b 1 2.0 mine",
    ]


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=3)


@given(st.dictionaries(st.tuples(NAMES, NAMES), st.floats(allow_nan=False)))
def test_a_run_comes_back_as_it_was_written(tmp_path_factory, scored):
    run = Run.of([query for query, _ in scored], [document for _, document in scored], list(scored.values()))
    path = tmp_path_factory.mktemp("run") / "run.txt"
    write_run(run, path)
    again = read_run(path)
    pairs = zip(again.qid.tolist(), again.document_ids, strict=True)
    assert dict(zip(pairs, again.scores.tolist(), strict=True)) == scored


@pytest.mark.parametrize("name", ["run.txt", "run.txt.gz"])
def test_a_file_holds_the_lines(tmp_path, name):
    run = Run.of(["q", "q"], ["a", "b"], [0.1, 0.2])
    write_run(run, tmp_path / name)
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "rt", encoding="utf-8") as file:
        assert file.read() == format_run(run)


def test_a_run_that_cannot_be_written_leaves_the_old_file(write):
    path = write(RUN)
    with pytest.raises(InputError):
        write_run(Run.of(["q 1"], ["a"], [1]), path)
    assert path.read_text() == RUN


@pytest.mark.parametrize(
    "run", [Run.of(["q 1"], ["a"], [1]), Run.of(["q"], [""], [1]), Run.of(["q"], ["a"], [1], tag="my run")]
)
def test_names_that_would_break_the_columns_are_not_written(run):
    with pytest.raises(InputError, match="is empty or contains a space"):
        format_run(run)


def test_a_run_in_memory_is_checked_too():
    with pytest.raises(InputError, match=r"Document 'a' occurs twice in query '1'."):
        Run.of([1, 1], ["a", "a"], [1, 2])
    with pytest.raises(InputError, match=r"There are 2 documents but 1 document ids."):
        Run.of([1, 1], ["a"], [1, 2])
    with pytest.raises(InputError, match="Row 0 is NaN in scores"):
        Run.of([1], ["a"], [np.nan])
    with pytest.raises(InputError, match="The label of row 0 is nan"):
        Judgements.of([1], ["a"], [np.nan])


def test_judging_labels_every_retrieved_document(write):
    judged = judge(read_run(write(RUN, "run")), read_judgements(write(JUDGEMENTS, "qrels")), unjudged=-1)
    assert judged.labels.tolist() == [0.5, -1, 2, -1]
    assert judged.judged.tolist() == [True, False, True, False]
    assert judged.qid.tolist() == ["q2", "q1", "q1", "q4"]
    assert judged.scores.tolist() == [0.25, 3.0, 2.0, -np.inf]


def test_judging_counts_what_only_one_side_knows(write):
    coverage = judge(read_run(write(RUN, "run")), read_judgements(write(JUDGEMENTS, "qrels"))).coverage
    assert coverage.queries_without_judgements == ("q4",)
    assert coverage.queries_not_retrieved == ("q3",)
    assert str(coverage) == (
        "3 queries retrieved, 1 of them without judgements; 1 judged query not retrieved; "
        "4 documents retrieved, 2 of them unjudged."
    )


def test_judging_keeps_the_labels_of_what_was_not_retrieved(write):
    judged = judge(read_run(write(RUN, "run")), read_judgements(write(JUDGEMENTS, "qrels")))
    assert judged.groups.ids.tolist() == ["q2", "q1", "q4"]
    assert [labels.tolist() for labels in judged.judged_labels] == [[0.5], [2, 1, 0], []]
    assert judged.n_relevant().tolist() == [0, 2, 0]
    assert judged.n_relevant(at_least=2).tolist() == [0, 1, 0]


def test_integer_ids_in_memory_meet_text_ids_of_a_file(write):
    judgements = read_judgements(write("7 0 12 3\n"))
    assert judge(Run.of(np.array([7.0]), [12], [0.5]), judgements).labels.tolist() == [3]
