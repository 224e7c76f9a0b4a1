import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.readers import tables
from rankwright.data.writers import write_table
from reference.clicks import counted_cells

ROW = st.tuples(st.integers(0, 5), st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(1, 4), st.booleans())


def cells(counts):
    names = counts.query_ids[counts.query], counts.document_ids[counts.document]
    keys = zip(*(each.tolist() for each in (*names, counts.position, counts.last)), strict=True)
    sums = zip(*(each.tolist() for each in (counts.shown, counts.clicked, counts.read, counts.ended)), strict=True)
    return {
        (str(query), str(document), *place): each
        for (query, document, *place), each in zip(keys, sums, strict=True)
    }


def log_of(rows):
    return rw.clicks.ClickLog(*(list(column) for column in zip(*rows, strict=True)))


@given(st.lists(ROW, min_size=1, max_size=40))
def test_counts_are_those_of_lists_one_by_one(rows):
    log = log_of(rows)
    counts = ClickCounts.of(log)
    assert cells(counts) == counted_cells(log)
    assert counts.by_pair(counts.shown).sum() == len(rows)
    assert len(counts.pair_offsets) - 1 == len({row[1:3] for row in rows})


@given(rows=st.lists(ROW, min_size=1, max_size=40), size=st.integers(20, 300), shift=st.integers(0, 1))
def test_a_file_read_in_blocks_has_the_same_counts(rows, size, shift, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    columns = log_of(sorted(rows)).columns()
    columns["position"] = columns["position"] - shift
    write_table(columns, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", size)
        patch.setattr("rankwright.data.readers.text_files.BLOCK_BYTES", 8)
        counts = rw.clicks.read_counts(path)
    whole = ClickCounts.of(rw.clicks.read_log(path))
    assert cells(counts) == cells(whole)
    assert counts.n_lists == whole.n_lists
    assert counts.notes == whole.notes


def test_weights_are_summed():
    log = rw.clicks.ClickLog([1, 2], ["q", "q"], ["d", "d"], [1, 1], [1, 0], weight=[0.5, 2.0])
    counts = ClickCounts.of(log)
    assert (counts.shown.tolist(), counts.clicked.tolist()) == ([2.5], [0.5])


def test_an_empty_log():
    counts = ClickCounts.of(rw.clicks.ClickLog([], [], [], [], []))
    assert (len(counts), counts.pair_offsets.tolist(), np.sum(counts.pair)) == (0, [0], 0)
