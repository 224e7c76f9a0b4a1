"""Documents to index in tests."""

from dataclasses import dataclass

from hypothesis import strategies as st

# Few words, so that documents share them and scores tie; one is a stop word, one has two forms.
VOCABULARY = ("ship", "ships", "sea", "the", "état", "漢字", "x", "harbour")


@dataclass(frozen=True)
class Text:
    id: str
    fields: dict[str, str]


def texts(bodies, prefix="d", field="body"):
    return [Text(f"{prefix}{number}", {field: body}) for number, body in enumerate(bodies)]


def bodies(most=30, words=12):
    """Return a strategy for the texts of documents."""
    return st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=words).map(" ".join), max_size=most)
