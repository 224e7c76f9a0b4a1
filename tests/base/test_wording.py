import pytest

from rankwright.base.wording import counted, enumerated, rounded_percent, rounded_up


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


def test_items_are_a_part_of_a_sentence():
    assert enumerated(["a"]) == "a"
    assert enumerated(name for name in "abc") == "a, b and c"


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.81723, "82 %"), (0.00314, "0.31 %"), (1.0, "100 %"), (0.0, "0 %")]
)
def test_measured_fractions_have_two_digits(fraction, text):
    assert rounded_percent(fraction) == text
