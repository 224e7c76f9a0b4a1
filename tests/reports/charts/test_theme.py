"""Colours can be read and told apart, in light and in dark."""

from itertools import combinations

import numpy as np
import pytest

from rankwright.reports.charts.theme import DARK, LIGHT, config

TEXT, GRAPHIC = 4.5, 3.0  # contrasts that WCAG 2.1 asks for (1.4.3, 1.4.11)
# How people without one kind of cone see linear colours (Viénot, Brettel & Mollon 1999).
DEUTERANOPIA = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])
PROTANOPIA = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])


def linear(colour):
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_can_be_read(palette):
    assert all(contrast(one, palette.page) >= TEXT for one in (palette.text, palette.muted, *palette.series))
    assert all(contrast(one, palette.text) >= TEXT for one in (*palette.ramp, *palette.diverging))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("sight", [np.eye(3), DEUTERANOPIA, PROTANOPIA], ids=["all", "deuteranopia", "protanopia"])
def test_the_first_colours_can_be_told_apart(palette, sight):
    seen = [np.cbrt(np.clip(sight @ linear(one), 0, 1)) for one in palette.series[:4]]  # about as eyes do
    assert min(np.abs(one - other).max() for one, other in combinations(seen, 2)) > 0.1


def test_light_and_dark_differ_in_colours_alone():
    light, dark = config(), config(dark=True)
    assert light.keys() == dark.keys()
    assert light["axis"].keys() == dark["axis"].keys()
    assert light["style"].keys() == dark["style"].keys()
    assert light["background"] != dark["background"]
