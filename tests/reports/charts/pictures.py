"""Reads pictures of charts."""

import re
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def texts(chart):
    """Return the texts of a chart's picture, read as XML."""
    return [one.text for one in ET.fromstring(chart.svg()).iter(f"{SVG}text")]


def marks(chart, kind):
    """Return the outlines of all marks of a kind, such as "bar" or "line"."""
    groups = ET.fromstring(chart.svg()).iter(f"{SVG}g")
    found = [one for one in groups if re.search(rf"\bmark-{kind}\b", one.get("class", ""))]
    return [
        path.get("d") for group in found for path in group.iter(f"{SVG}path") if "role-mark" in group.get("class")
    ]
