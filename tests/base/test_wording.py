import pytest

from rankwright.base.wording import counted, rounded_up


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


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0237, "0.024"),
        (0.02, "0.02"),
        (1.0, "1"),
        (9.91, "10"),
        (31.5, "32"),
        (1234, "1300"),
        (1.3e-7, "0.00000013"),
    ],
)
def test_limits_are_rounded_up(number, text):
    assert rounded_up(number) == text
    assert float(text) >= number
