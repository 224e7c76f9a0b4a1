import errno
import json
import os

import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.judgements.judging.journal import Journal, JournalLine

LINE = JournalLine("ada", "q", "d1", 2.0, note="is it?")


def test_lines_are_read_again(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    lines = [LINE, JournalLine("bob", "q", "d1", skipped=True), JournalLine("ada", "q", "d1")]
    for line in lines:
        journal.append(line)
    journal.close()
    again = Journal(tmp_path / "j.jsonl")
    assert again.lines == lines
    times = [json.loads(line)["time"] for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert sorted(set(times)) == times
    again.close()


def test_a_line_is_on_disk_when_append_returns(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j.jsonl")
    calls = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: calls.append(os.fstat(descriptor).st_size))
    journal.append(LINE)
    assert calls == [(tmp_path / "j.jsonl").stat().st_size]
    journal.close()


def test_what_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j.jsonl")
    journal.append(LINE)
    before = (tmp_path / "j.jsonl").read_bytes()
    whole = os.write
    parts = iter([5, None])

    def write(descriptor, text):
        size = next(parts)
        if size is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(descriptor, text[:size])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match="No space left"):
        journal.append(LINE)
    assert (tmp_path / "j.jsonl").read_bytes() == before
    journal.close()


def test_the_start_of_a_line_is_removed_and_the_rest_kept(tmp_path):
    path = tmp_path / "j.jsonl"
    journal = Journal(path)
    journal.append(LINE)
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"query": "q", "docu')
    journal = Journal(path)
    assert journal.cut_short == 20
    assert journal.lines == [LINE]
    assert path.read_bytes() == whole
    journal.close()


def test_only_one_process_writes_and_only_a_file_of_judgements(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    with pytest.raises(InputError, match="Another process writes to"):
        Journal(tmp_path / "j.jsonl")
    journal.close()
    with pytest.raises(InputError, match=r"ends with \.jsonl, not j\.csv"):
        Journal(tmp_path / "j.csv")
    (tmp_path / "other.jsonl").write_text('{"title": "no judgement"}\n')
    with pytest.raises(InputError, match="line 1: there is no 'query'"):
        Journal(tmp_path / "other.jsonl")
    with pytest.raises(InputError, match="cannot be written"):
        Journal(tmp_path / "none" / "j.jsonl")


def test_the_clock_may_be_set_back(tmp_path):
    path = tmp_path / "j.jsonl"
    future = "2100-01-01T00:00:00.000+00:00"
    record = {"query": "q", "document": "d1", "judge": "ada", "grade": 1, "time": future}
    path.write_text(json.dumps(record) + "\n")
    journal = Journal(path)
    journal.append(LINE)
    journal.close()
    with pytest.warns(UserWarning, match="1 document graded again"):
        assert rw.judgements.read_grades(path).grades.tolist() == [[2.0]]


@pytest.mark.parametrize("text", ['{"id": "1"}\n{"id": "2"}', '{"id": "1"}\n{"id": "2', "a note"])
def test_a_file_of_something_else_stays_as_it_is(tmp_path, text):
    path = tmp_path / "queries.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match="line 1"):
        Journal(path)
    assert path.read_text() == text


def test_a_whole_last_line_without_its_end_is_kept(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_text('{"query": "q", "document": "d1", "judge": "ada", "grade": 2, "time": 1}')
    journal = Journal(path)
    assert journal.cut_short == 0
    journal.append(JournalLine("ada", "q", "d2", 1))
    journal.close()
    assert rw.judgements.read_grades(path).grades.tolist() == [[2.0], [1.0]]


def test_a_line_that_was_cut_inside_a_character(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_bytes('{"query": "é'.encode()[:-1])
    journal = Journal(path)
    assert journal.cut_short == 12
    assert path.read_bytes() == b""
    journal.close()
