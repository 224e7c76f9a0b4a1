import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.readers.log_builder import ClickLogWarning


def test_sessions_as_python_values():
    log = rw.clicks.from_sessions([(5, ["a", "b"], [False, True]), (6, ["b"], [2])])
    columns = log.columns()
    assert columns["query"].tolist() == ["5", "5", "6"]
    assert columns["position"].tolist() == [1, 2, 1]
    assert columns["clicked"].tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="Session 1: 2 documents but 1 clicks"):
        rw.clicks.from_sessions([(5, ["a", "b"], [True])])


def test_yandex_sessions_with_queries_that_repeat(tmp_path):
    lines = ["1 0 Q 12 3 a b c", "1 2 C b", "1 3 Q 12 3 b a", "1 5 C b", "1 6 C x", "2 0 C a", "2 1 Q 12 3 a"]
    (tmp_path / "log").write_text("\n".join(line.replace(" ", "\t") for line in lines))
    with pytest.warns(ClickLogWarning, match="2 clicks without an impression left out"):
        log = rw.clicks.read_yandex(tmp_path / "log")
    columns = log.columns()
    assert columns["session"].tolist() == ["1", "1", "1", "1/2", "1/2", "2"]
    assert columns["clicked"].tolist() == [0, 1, 0, 1, 0, 0]
    (tmp_path / "log").write_text("1\t2\tX\n")
    with pytest.raises(InputError, match="line 1: expected a query"):
        rw.clicks.read_yandex(tmp_path / "log")


def test_positions_beside_a_file_of_lightgbm(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("0 qid:1 1:0.5\n1 qid:1 1:0.7\n0 qid:2 1:0.1\n")
    (tmp_path / "train.txt.position").write_text("1\n0\n0\n")
    log = rw.clicks.from_positions(rw.read_letor(path), rw.clicks.read_positions(path))
    assert log.position.tolist() == [1, 2, 1]
    assert log.clicked.tolist() == [1, 0, 0]
    assert log.n_lists == 2
    (tmp_path / "train.txt.position").write_text("top\n")
    with pytest.raises(InputError, match="line 1: expected one position"):
        rw.clicks.read_positions(path)


@pytest.mark.parametrize(
    ("session", "sentence"),
    [
        (("hats", ["a"]), "Session 1: expected a query, its documents and their clicks."),
        (("hats", ["a", "b"], ["x", 0]), "Session 1: clicks must be numbers"),
    ],
)
def test_sessions_of_another_form_are_refused(session, sentence):
    with pytest.raises(InputError, match=sentence):
        rw.clicks.from_sessions([session])
