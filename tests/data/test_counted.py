import pytest

from rankwright.data.counted import counted


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (0, "document", "0 documents"),
        (1, "query", "1 query"),
        (2000, "query", "2,000 queries"),
        (1, "feature", "1 feature"),
    ],
)
def test_nouns_agree_with_their_number(number, noun, words):
    assert counted(number, noun) == words
