"""What pyproject.toml says of building and of dependencies."""

import tomllib
from pathlib import Path

import pytest
from scikit_build_core.settings.skbuild_read_settings import SettingsReader

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize(("state", "folder"), [("wheel", ""), ("editable", "build/{wheel_tag}")])
def test_only_an_editable_install_keeps_a_build_folder(state, folder):
    """Without a folder each build has a temporary one, and two installs from one checkout do not meet."""
    assert SettingsReader.from_file(ROOT / "pyproject.toml", {}, state=state).settings.build_dir == folder


def test_the_bounds_of_the_extras_are_those_of_the_tests():
    """`make lowest` installs the group of the tests; large packages have their own, as for `make ecosystem`."""
    groups = PROJECT["dependency-groups"]
    tested = {*groups["test"], *groups["clusters"], *groups["ecosystem"]}
    extras = PROJECT["project"]["optional-dependencies"]
    missing = {extra: [each for each in bounds if each not in tested] for extra, bounds in extras.items()}
    assert {extra: bounds for extra, bounds in missing.items() if bounds} == {"xgboost": extras["xgboost"]}
    assert any(each.startswith(extras["xgboost"][0].replace("xgboost", "xgboost-cpu")) for each in tested)
