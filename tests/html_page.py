"""Reads HTML pages that were written."""

import json
from html.parser import HTMLParser

UNCLOSED = {"meta", "link", "input"}


class Page(HTMLParser):
    """Reads a page, minding that every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.scripts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in UNCLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def data(self):
        """What the page's script reads: charts and query browser."""
        return json.loads(self.scripts[0])

    @property
    def text(self):
        """All words, with one space between them."""
        return " ".join(" ".join(self.words).split())

    @property
    def charts(self):
        """The alternative texts of all charts."""
        return [given["aria-label"] for _, given in self.tags if given.get("class") == "chart"]

    def count(self, tag, kind=None):
        return sum(name == tag and kind in (None, given.get("class")) for name, given in self.tags)


def read_page(path):
    return Page(path.read_text(encoding="utf-8"))
