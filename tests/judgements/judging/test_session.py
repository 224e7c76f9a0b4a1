import json

import krippendorff
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.judgements.judging.journal import Journal, JournalLine
from rankwright.judgements.judging.pool import pool_of
from rankwright.judgements.judging.session import JudgingSession, parsed_scale
from rankwright.serve.http.tokens import KnownTokens
from rankwright.serve.settings import Listening

SCALE = {0.0: "no", 1.0: "yes", 2.0: "very"}


@pytest.fixture
def sessions(tmp_path):
    """Open the same session again and again, as restarts do."""
    documents = [rw.text.TextDocument(f"d{number}", {"body": f"hats {number}"}) for number in range(5)]
    searcher = rw.text.Searcher(rw.text.Index.build(documents, tmp_path / "index"))
    pool = pool_of(searcher, rw.text.Queries.of({"q": "hats"}), None, 10)
    opened = []

    def open_session(scale=SCALE):
        if opened:
            opened.pop().close()
        journal = Journal(tmp_path / "j.jsonl")
        try:
            session = JudgingSession(pool, journal, scale, Listening(), KnownTokens.of("token"))
        except InputError:
            journal.close()
            raise
        opened.append(session)
        return session

    yield open_session
    for session in opened:
        session.close()


def grade(session, judge, value, note=""):
    query, document = session.state_of(judge).next_pair(skipped=False)
    session.record(JournalLine(judge, query, document, value, note=note))
    return document


def test_a_restart_resumes(sessions, tmp_path):
    session = sessions()
    seen = [grade(session, "ada", value) for value in (0, 1, 2)]
    coming = session.state_of("ada").next_pair(skipped=False)
    session = sessions()
    assert session.state_of("ada").next_pair(skipped=False) == coming
    assert session.graded() == {"ada": 3}
    assert [line.document for line in session.state_of("ada").lines.values()] == seen
    rest = [grade(session, "ada", 1) for _ in range(2)]
    assert session.state_of("ada").next_pair(skipped=False) is None
    assert sorted(seen + rest) == [f"d{number}" for number in range(5)]
    table = rw.judgements.read_grades(tmp_path / "j.jsonl")
    assert len(table) == 5
    assert table.notes == ()


def test_undo_and_skip(sessions, tmp_path):
    session = sessions()
    with pytest.raises(InputError, match="There is nothing to undo"):
        session.undo("ada")
    first = grade(session, "ada", 1, note="hm")
    assert session.undo("ada").note == "hm"
    assert grade(session, "ada", 2) == first
    query, document = session.state_of("ada").next_pair(skipped=False)
    session.record(JournalLine("ada", query, document, skipped=True))
    assert session.state_of("ada").next_pair(skipped=False) != (query, document)
    session = sessions()
    assert session.graded() == {"ada": 1}
    assert session.state_of("ada").next_pair(skipped=True) in session.pool.pairs
    for _ in range(3):
        grade(session, "ada", 0)
    assert session.state_of("ada").next_pair(skipped=True) == (query, document)
    session.undo("ada")
    assert session.graded() == {"ada": 3}
    assert rw.judgements.read_grades(tmp_path / "j.jsonl").notes == ()


def test_agreement_as_it_goes(sessions):
    session = sessions()
    assert session.agreement() is None
    for _, document in session.pool.pairs:
        for judge in ("ada", "bob"):
            session.record(JournalLine(judge, "q", document, float(document in ("d1", "d2"))))
    assert session.agreement() == (1.0, 5)
    undone = session.undo("bob")
    assert session.agreement() == (1.0, 4)
    session.record(JournalLine("bob", "q", undone.document, 2.0))
    session.record(JournalLine("cyd", "q", "d3", 1.0))
    again = sessions()  # counted from the file, line by line
    table = rw.judgements.read_grades(again.journal.path, scale=[0, 1, 2])
    value = krippendorff.alpha(table.grades.T, value_domain=[0, 1, 2], level_of_measurement="ordinal")
    for each in (session, again):
        assert each.agreement() == (pytest.approx(value), int((table.n_judges > 1).sum()))


def test_bad_judgements_are_refused_and_not_written(sessions, tmp_path):
    session = sessions()
    cases = {
        "A judge must have a name": JournalLine("  ", "q", "d1", 1),
        "at most 60 characters": JournalLine("x" * 61, "q", "d1", 1),
        "There is no query 'z' to judge": JournalLine("ada", "z", "d1", 1),
        "Document 'd9' of query 'q' is not to be judged": JournalLine("ada", "q", "d9", 1),
        "The grade 7 is outside the scale 0, 1, 2": JournalLine("ada", "q", "d1", 7),
        "Give a grade, or skip the document": JournalLine("ada", "q", "d1"),
        "A note has at most 2,000 characters": JournalLine("ada", "q", "d1", 1, note="x" * 2001),
    }
    for sentence, line in cases.items():
        with pytest.raises(InputError, match=sentence):
            session.record(line)
    assert (tmp_path / "j.jsonl").read_text() == ""


def test_a_file_with_other_grades_or_documents(sessions, tmp_path):
    record = {"query": "old", "document": "d1", "judge": "ada", "grade": 1, "time": 1}
    (tmp_path / "j.jsonl").write_text(json.dumps(record) + "\n")
    assert sessions().unknown == 1
    sessions().record(JournalLine("ada", "q", "d1", 2))
    with pytest.raises(InputError, match=r"j\.jsonl, line 2: the grade 2 is outside the scale 0, 1"):
        sessions({0.0: "no", 1.0: "yes"})


def test_scales():
    assert parsed_scale("0=no, 1=yes") == {0.0: "no", 1.0: "yes"}
    assert parsed_scale("1,0.5") == {1.0: "", 0.5: ""}
    for text in ("no", "0=no", "0=a,0=b", "nan=a,1=b", "0,1,2,3,4,5,6,7,8,9,10"):
        with pytest.raises(InputError, match="scale"):
            parsed_scale(text)


def test_a_document_that_is_skipped_again_comes_after_other_skipped_ones(sessions):
    session = sessions()
    state = session.state_of("ada")
    for _ in range(5):
        session.record(JournalLine("ada", *state.next_pair(skipped=False), skipped=True))
    seen = []
    for _ in range(6):
        seen.append(state.next_pair(skipped=True))
        session.record(JournalLine("ada", *seen[-1], skipped=True))
    assert sorted(seen[:5]) == session.pool.pairs
    assert seen[5] == seen[0]
