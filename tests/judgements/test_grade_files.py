import gzip
import json

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.judgements.grade_files import JudgeWarning

LONG = [("q1", "d1", "ada", 2), ("q1", "d1", "bob", 1), ("q1", "d2", "ada", 0), ("q2", "007", "bob", 3)]
WIDE = "query,document,ada,bob\nq1,d1,2,1\nq1,d2,0,\nq2,007,NA,3\n"


def content(table):
    """The grades of a table as a set of query, document, judge and grade."""
    return {
        (query, document, judge, grade)
        for (query, document), row in zip(table.pairs(), table.grades.tolist(), strict=True)
        for judge, grade in zip(table.judges, row, strict=True)
        if not np.isnan(grade)
    }


def lines(*records):
    names = ("query", "document", "judge", "grade", "time")
    return "".join(json.dumps(dict(zip(names, record, strict=False))) + "\n" for record in records)


def refused(*source, **options):
    with pytest.raises(InputError) as caught:
        rw.judgements.read_grades(*source, **options)
    return str(caught.value)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_file(name, text):
        (tmp_path / name).write_text(text)
        return name

    return write_file


FRAME = pd.DataFrame(LONG, columns=["qid", "docid", "annotator", "label"])


def test_all_forms_hold_the_same_grades(write, tmp_path):
    FRAME.to_parquet("long.parquet")
    (tmp_path / "wide.csv.gz").write_bytes(gzip.compress(WIDE.encode()))
    forms = [
        write("wide.csv", WIDE),
        "wide.csv.gz",
        write("wide.tsv", WIDE.replace(",", "\t")),
        write("long.csv", FRAME.to_csv(index=False)),
        "long.parquet",
        write("lines.jsonl", lines(*LONG)),
        write("fifth.qrels", "".join(f"{q} 0 {d} {g} {j}\n" for q, d, j, g in LONG)),
        write("iteration.qrels", "".join(f"{q} {j} {d} {g}\n" for q, d, j, g in LONG)),
        FRAME,
        {"ada": write("a.qrels", "q1 0 d1 2\nq1 0 d2 0\n"), "bob": write("b.qrels", "q1 0 d1 1\nq2 0 007 3\n")},
        [write("ada.csv", "qid,docid,grade\nq1,d1,2\nq1,d2,0\n"), write("bob.txt", "q1 0 d1 1\nq2 0 007 3\n")],
    ]
    for form in forms:
        assert content(rw.judgements.read_grades(form)) == set(LONG), form


def test_columns_judges_and_language_models(write):
    path = write("other.csv", "topic_no,url,worker_id,stars\nq,x,gpt-4,1\nq,x,eve,2\nq,y,gpt-5,0\n")
    columns = {"query": "topic_no", "document": "url", "judge": "worker_id", "grade": "stars"}
    table = rw.judgements.read_grades(path, **columns, language_models="gpt-*")
    assert table.judges == ("gpt-4", "eve", "gpt-5")
    assert table.language_models == {"gpt-4", "gpt-5"}
    assert table.shown_name("gpt-4") == "gpt-4 (language model)"
    some = rw.judgements.read_grades(path, **columns, judges=["e*", "gpt-5"])
    assert some.judges == ("eve", "gpt-5")
    assert refused(path, **columns, judges=["evee"]) == "There is no judge 'evee'; did you mean 'eve'?"
    assert refused(path, worker="x").startswith("read_grades has no worker; columns are query, document")
    wide = write("wide.csv", "query,document,title,ada\nq,x,hats,1\n")
    assert refused(wide) == "wide.csv, row 1: 'hats' in 'title' is not a grade; name columns of judges in judges."
    assert rw.judgements.read_grades(wide, judges=["ada"]).judges == ("ada",)


def test_the_last_grade_by_time_counts(write):
    records = [("q", "x", "ada", 1, "2026-01-01T10:00:00"), ("q", "x", "ada", 2, "2026-01-01T09:00:00+00:00")]
    path = write("again.jsonl", lines(*records, ("q", "y", "ada", 0, "2026-01-01T11:00:00Z")))
    with pytest.warns(
        JudgeWarning, match="1 document graded again by the same judge: the last grade by time counts"
    ):
        table = rw.judgements.read_grades(path)
    assert content(table) == {("q", "x", "ada", 1.0), ("q", "y", "ada", 0.0)}
    assert table.notes == ("1 document graded again by the same judge: the last grade by time counts.",)
    sentence = refused(write("again.csv", "query,document,judge,grade\nq,x,ada,1\nq,x,ada,1\n"))
    before = "judge 'ada' graded document 'x' of query 'q' before, in again.csv, row 1"
    assert sentence == f"again.csv, row 2: {before}; without times it is unknown which grade counts."


def test_skipped_and_withdrawn_grades_are_none(write):
    records = [
        ("q", "x", "ada", 1, 1),
        ("q", "x", "ada", None, 2),
        ("q", "y", "ada", None, 3),
        ("q", "z", "ada", 2, 4),
    ]
    assert content(rw.judgements.read_grades(write("a.jsonl", lines(*records)))) == {("q", "z", "ada", 2.0)}


def test_a_last_line_that_was_cut_short_is_left_out(write):
    path = write("cut.jsonl", lines(*LONG) + '{"query": "q2", "docu')
    with pytest.warns(JudgeWarning, match="The last line of .*cut.jsonl was cut short and is left out"):
        table = rw.judgements.read_grades(path)
    assert content(table) == set(LONG)
    assert table.notes == ("The last line of cut.jsonl was cut short and is left out.",)
    assert "broken JSON" in refused(write("broken.jsonl", '{"query": "q2", "docu\n' + lines(*LONG)))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "query,document,judge,grade\nq,x,,1\n", "a.csv, row 1: the judge has no name."),
        (
            "a.jsonl",
            '{"query": "q", "document": "x", "judge": " ", "grade": 1}',
            "a.jsonl, line 1: the judge has no name.",
        ),
        (
            "a.jsonl",
            lines(("q", "x", "ada", 1)) + '{"query": "q", "document": "y", "grade": 1}',
            "a.jsonl, line 2: the judge has no name.",
        ),
        ("a.csv", "query,document,judge,grade\n,x,ada,1\n", "a.csv, row 1: there is no query."),
        (
            "a.csv",
            "query,document,judge\nq,x,ada\n",
            "a.csv: there is no column 'grade'; name it in columns, as in grade=NAME.",
        ),
        (
            "a.csv",
            "query,text,judge\nq,x,ada\n",
            "a.csv: there is no column 'document'; name it in columns, as in document=NAME.",
        ),
        (
            "a.csv",
            "query,document,judge,grade\nq,x,ada,7\n",
            "a.csv, row 1: the grade 7 is outside the scale 0, 1, 2, 3.",
        ),
        ("a.qrels", "q 0 x one\n", "a.qrels, line 1: The label 'one' is not a number."),
        ("a.qrels", "q 0 x\n", "a.qrels, line 1: Found 3 columns, expected 4: query iteration document grade."),
        (
            "a.csv",
            "query,document,judge,grade,time\nq,x,ada,1,noon\n",
            "a.csv, row 1: 'noon' is not a time such as 2026-03-31T12:30:00.",
        ),
        ("a.csv", "query,document,judge,grade\nq,x,ada,\n", "There are no grades."),
        ("a.csv", "query,document,ada,ada\nq,x,1,2\n", "a.csv: There are two columns 'ada'."),
        ("a.csv", "", "a.csv: The table is empty."),
        (
            "a.csv",
            "query,document,judge,grade\nq,x,ada,inf\n",
            "a.csv, row 1: 'inf' in 'grade' is not a grade; name columns of judges in judges.",
        ),
    ],
)
def test_bad_input_is_one_sentence(write, name, text, sentence):
    assert refused(write(name, text), scale=[0, 1, 2, 3]) == sentence


def test_a_scale_needs_two_grades_and_a_file_must_exist(write):
    assert "scale must hold at least two different grades" in refused(write("a.csv", WIDE), scale=[1, 1])
    assert refused("none.csv") == "There is no file none.csv."
    assert refused("none.qrels") == "There is no file none.qrels."


def test_a_name_for_a_file_that_has_judges_is_refused(write):
    fifth = write("fifth.qrels", "q 0 x 1 ada\n")
    for path in (write("wide.csv", WIDE), write("long.csv", FRAME.to_csv(index=False)), fifth):
        assert refused({"eve": path}) == f"{path} says itself who judged: give it without the name 'eve'."
    sentence = refused({"eve": write("lines.jsonl", lines(*LONG))})
    assert sentence == "lines.jsonl, line 1 says itself who judged: give it without the name 'eve'."
    rounds = write("rounds.qrels", "q 1 x 1\nq 2 y 0\n")
    assert rw.judgements.read_grades({"eve": rounds}).judges == ("eve",)


def test_options_that_no_file_uses_are_refused(write):
    path = write("a.qrels", "q 0 x 1\n")
    assert refused(path, judge="worker").startswith("TREC judgements have no named columns")
    assert refused(path, delimiter=";") == "delimiter is for .csv and .tsv files, and there is none."
    assert rw.judgements.read_grades(write("wide.csv", WIDE), judges="ada").judges == ("ada",)


def test_files_without_judges_are_those_of_one(write):
    lines = write("ada.jsonl", '{"query": "q", "document": "x", "grade": 1}\n')
    assert content(rw.judgements.read_grades(lines)) == {("q", "x", "ada", 1.0)}
    assert content(rw.judgements.read_grades({"bob": lines})) == {("q", "x", "bob", 1.0)}
    cranfield = write("cyd.qrels", "1 184 2\n1 29 3\n")
    assert content(rw.judgements.read_grades(cranfield)) == {("1", "184", "cyd", 2.0), ("1", "29", "cyd", 3.0)}
    cacm = write("cacm.rels", "01 1410 0 0\n01 1572 0 0\n")
    assert content(rw.judgements.read_grades(cacm)) == {("01", "1410", "cacm", 1.0), ("01", "1572", "cacm", 1.0)}


def test_grades_of_judges_that_are_left_out_are_not_checked(write):
    path = write("a.csv", "query,document,judge,grade\nq,x,ada,2\nq,x,bob,7\nq,y,bob,1\nq,y,bob,0\nq,y,ada,1\n")
    assert refused(path, scale=[0, 1, 2]) == "a.csv, row 2: the grade 7 is outside the scale 0, 1, 2."
    table = rw.judgements.read_grades(path, scale=[0, 1, 2], judges="ada")
    assert content(table) == {("q", "x", "ada", 2.0), ("q", "y", "ada", 1.0)}


def test_a_line_that_was_cut_within_a_character_is_left_out(write, tmp_path):
    path = write("cut.jsonl", lines(*LONG))
    with (tmp_path / path).open("ab") as file:
        file.write('{"query": "é'.encode()[:-1])
    with pytest.warns(JudgeWarning, match="cut short and is left out"):
        assert len(rw.judgements.read_grades(path)) == 3
