import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.readers.log_builder import ClickLogWarning


def interaction(number, query, documents, clicks):
    shown = "".join(
        f"<result rank='{rank}'><docid>{name}</docid><title>&lt;b&gt;</title></result>"
        for rank, name in enumerate(documents, start=1)
    )
    clicked = "".join(f"<click num='{k}'><rank>{rank}</rank></click>" for k, rank in enumerate(clicks))
    body = f"<query_id>{query}</query_id><results>{shown}</results><clicked>{clicked}</clicked>"
    return f"<interaction num='{number}'>{body}</interaction>"


def test_sessions_queries_that_repeat_and_strays(tmp_path):
    first = interaction(1, "q1", ["d1", "d2"], [2]) + interaction(2, "q1", ["d2", "d3"], [1, 9])
    second = interaction(1, "q2", ["d1"], [])
    text = f"<tiangong><session num='1'>{first}</session><session num='2'>{second}</session></tiangong>"
    (tmp_path / "log.xml").write_text(text)
    with pytest.warns(ClickLogWarning, match="1 click without an impression left out"):
        log = rw.clicks.read_tiangong(tmp_path / "log.xml")
    columns = log.columns()
    assert columns["session"].tolist() == ["1", "1", "1/2", "1/2", "2"]
    assert columns["document"].tolist() == ["d1", "d2", "d2", "d3", "d1"]
    assert columns["clicked"].tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<tiangong><session num='1'>", "log.xml is not XML"),
        ("not XML", "log.xml is not XML"),
        (
            f"<t><session num='4'>{interaction(1, 'q', ['d'], ['top'])}</session></t>",
            "session 4: expected a rank, not 'top'",
        ),
    ],
)
def test_files_that_are_refused(tmp_path, text, sentence):
    (tmp_path / "log.xml").write_text(text)
    with pytest.raises(InputError, match=sentence):
        rw.clicks.read_tiangong(tmp_path / "log.xml")
