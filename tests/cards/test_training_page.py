"""The page of one training."""

import pytest

import rankwright as rw
from auto.small_run import small_data
from html_page import read_page
from rankwright.cards.training_page import write_training_page


@pytest.mark.parametrize("held_out", [False, True])
def test_training_page(tmp_path, held_out):
    train, validation = small_data(), small_data(12) if held_out else None
    ranker = rw.LambdaMART(rounds=4, max_leaves=4).fit(train, validation=validation)
    write_training_page(ranker, tmp_path / "page.html", train=train, validation=validation)
    read = read_page(tmp_path / "page.html")
    part = "validation" if held_out else "training"
    assert f"On the {part} queries, LambdaMART has a mean ndcg@10 of " in read.text
    assert ("expect a little less on new ones" if held_out else "expect less on new ones") in read.text
    assert "rankwright.LambdaMART(max_leaves=4, rounds=4).fit(data)" in read.text
    assert read.data["browser"]["systems"] == ["LambdaMART", "best feature"]
