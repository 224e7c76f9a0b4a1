import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.readers import tables
from rankwright.clicks.readers.log_builder import ClickLogWarning
from rankwright.data.writers import write_table

TEXT = (
    "session,query,docid,rank,clicked,extra\n"
    's1,"hats, red",d1,1,0,x\ns1,"hats, red",d2,2,true,y\ns2,shoes,d3,1,0,z\n'
)


def same(log, other):
    first, second = log.columns(), other.columns()
    return first.keys() == second.keys() and all(
        np.array_equal(first[name].astype(str), second[name].astype(str)) for name in first
    )


def test_a_csv_file_with_usual_names(tmp_path):
    (tmp_path / "log.csv").write_text(TEXT)
    log = rw.clicks.read_log(tmp_path / "log.csv")
    assert log.columns()["query"].tolist() == ["hats, red", "hats, red", "shoes"]
    assert log.columns()["clicked"].tolist() == [0, 1, 0]
    assert log.notes == ()


@pytest.mark.parametrize("name", ["log.csv", "log.tsv.gz", "log.parquet"])
def test_what_is_written_is_read(name, tmp_path):
    data = rw.synthetic.gaussian_queries(4)
    log = rw.clicks.simulate(data, {"a": data.X[:, 0], "b": data.X[:, 1]}, sessions=3)
    write_table(log.columns(), tmp_path / name)
    assert same(rw.clicks.read_log(tmp_path / name), log)


@given(size=st.integers(1, 200))
def test_the_size_of_blocks_does_not_matter(size, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    rows = [f'{row // 3},"a ""quoted""\nquery",d{row % 3},{row % 3},{row % 2}' for row in range(12)]
    path.write_text("\n".join(["session,query,document,position,clicked", *rows]))
    with pytest.MonkeyPatch.context() as patch:
        whole = rw.clicks.read_log(path)
        patch.setattr(tables, "BLOCK_BYTES", size)
        patch.setattr("rankwright.data.readers.text_files.BLOCK_BYTES", 8)
        assert same(rw.clicks.read_log(path), whole)
    assert whole.query_ids.tolist() == ['a "quoted"\nquery']


def test_unusable_rows_are_counted_and_said(tmp_path):
    frame = pd.DataFrame(
        {
            "session": ["s", None, "s", "s", "t"],
            "query": ["q"] * 5,
            "document": ["a", "b", "c", "d", "a"],
            "position": [1, 2, None, 4, 1],
            "is_click": [0, 1, 1, None, 1],
        }
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    expected = (
        "1 impression without a position left out.",
        "1 impression without a session, query or document left out.",
        "1 impression without a value of clicked left out.",
    )
    for name in ("log.csv", "log.parquet"):
        with pytest.warns(ClickLogWarning) as said:
            log = rw.clicks.read_log(tmp_path / name, clicked="is_click")
        assert log.notes == expected
        assert tuple(str(warning.message) for warning in said) == expected
        assert len(log) == 2


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("", {}, "is empty: expected a line of column names."),
        (
            "session,query,docid,clicked\n",
            {},
            "There is no column 'position' among session, query, docid,",
        ),
        (TEXT.replace(",2,true", ",-2,1"), {}, "log.csv: The position of row"),
        (TEXT, {"position": "place"}, "There is no column 'place'"),
        (TEXT, {"colour": "x"}, "read_log has no colour; columns are session, query,"),
        (TEXT.replace(",2,true", ",two,1"), {}, "'two' in column 'rank' is not a number."),
        (TEXT + "s3,q\n", {}, "line 5: expected 6 fields as in the header, found 2."),
    ],
)
def test_a_wrong_table_is_refused(text, options, sentence, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(InputError) as refused:
        rw.clicks.read_log(tmp_path / "log.csv", **options)
    assert sentence in str(refused.value)
    assert str(refused.value).count("\n") == 0


def test_no_file_and_not_parquet(tmp_path):
    with pytest.raises(InputError, match=r"There is no file .*none\.csv"):
        rw.clicks.read_log(tmp_path / "none.csv")
    (tmp_path / "log.parquet").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is not a readable Parquet file"):
        rw.clicks.read_log(tmp_path / "log.parquet")


def test_times_of_parquet_become_seconds(tmp_path):
    times = pd.to_datetime(["2026-01-01T00:00:01", "2026-01-01T00:00:02"])
    frame = pd.DataFrame(
        {"session": [1, 1], "query": [5, 5], "document": [7, 8], "position": [1, 2], "clicked": [0, 1]}
    )
    frame.assign(time=times).to_parquet(tmp_path / "log.parquet")
    assert np.diff(rw.clicks.read_log(tmp_path / "log.parquet").time).tolist() == [1.0]


def test_times_in_iso_8601_become_seconds(tmp_path):
    times = ["1970-01-01T00:00:01Z", "1970-01-01 00:00:02", "1970-01-01T01:00:03+01:00", "4"]
    frame = pd.DataFrame(
        {
            "session": [1] * 4,
            "query": 5,
            "document": range(4),
            "position": range(1, 5),
            "clicked": 0,
            "time": times,
        }
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    for name in ("log.csv", "log.parquet"):
        assert rw.clicks.read_log(tmp_path / name).time.tolist() == [1.0, 2.0, 3.0, 4.0]
    frame.assign(time="noon").to_csv(tmp_path / "log.csv", index=False)
    with pytest.raises(InputError, match="'noon' in column 'time' is not a number"):
        rw.clicks.read_log(tmp_path / "log.csv")
