"""Reads HTML pages that were written."""

from html.parser import HTMLParser

UNCLOSED = {"meta"}


class Page(HTMLParser):
    """Reads a page, minding that every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
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
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def count(self, tag, kind=None):
        return sum(name == tag and kind in (None, given.get("class")) for name, given in self.tags)
