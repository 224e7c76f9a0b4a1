"""What is installed, on which machine, and whether it works: what `rankwright doctor` shows."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright import _native
from rankwright.base.resources import available_memory, available_threads
from rankwright.base.version import __version__
from rankwright.base.wording import enumerated, seconds
from rankwright.reports.blocks import Block, Column, Facts, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

SIMD_PATHS = ("portable", "avx2", "avx512")
REQUIREMENT = re.compile(r"([\w.-]+)>=([\d.]+)(?:.*\bextra == ['\"](\w+)['\"])?")


@dataclass(frozen=True)
class Package:
    """A package that rankwright needs, or that one of its extras brings."""

    name: str
    least: str
    extra: str | None

    @property
    def installed(self) -> str | None:
        """Its version, or None if it is not installed."""
        for name in (self.name, f"{self.name}-cpu"):  # as XGBoost is called without CUDA
            with suppress(PackageNotFoundError):
                return version(name)
        return None

    @property
    def state(self) -> str:
        """Whether it can be used."""
        if self.installed is None:
            return "not installed"
        return "too old" if _numbers(self.installed) < _numbers(self.least) else "ok"


@dataclass(frozen=True)
class Installation(Result):
    """The versions, the machine and the packages, as a report of a bug needs them."""

    machine: dict[str, Any]
    packages: list[Package]

    @property
    def summary(self) -> str:
        wrong = [each.name for each in self.packages if each.state != "ok" and not each.extra]
        old = [each.name for each in self.packages if each.state == "too old" and each.extra]
        if wrong:
            return f"rankwright {__version__} scores and trains trees; for more: pip install {' '.join(wrong)}."
        if old:
            what = f"{enumerated(old)} {'is' if len(old) == 1 else 'are'} too old: pip install -U {' '.join(old)}"
            return f"rankwright {__version__} works, but {what}."
        return f"rankwright {__version__} works; a model was fitted and scored in {self.machine['self-test']}."

    def blocks(self) -> Iterable[Block]:
        columns = [Column(title, Kind.TEXT) for title in ("package", "installed", "needed", "for", "state")]
        rows = [
            (each.name, each.installed or "-", f"{each.least} or newer", each.extra or "rankwright", each.state)
            for each in self.packages
        ]
        return [Facts(self.machine), Table(columns, rows)]

    def to_dict(self) -> dict[str, Any]:
        packages = [{**vars(each), "installed": each.installed, "state": each.state} for each in self.packages]
        return {name.replace(" ", "_"): value for name, value in self.machine.items()} | {"packages": packages}


def this_installation() -> Installation:
    """Return what is installed here, after a small model was fitted and scored."""
    forced = ", as RANKWRIGHT_SIMD says" if "RANKWRIGHT_SIMD" in os.environ else ""
    lock = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else ", without the interpreter's lock"
    machine = {
        "rankwright": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()}{lock})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
        "vector path": SIMD_PATHS[_native.widest_path()] + forced,
        "threads": available_threads(),
        "available memory": f"{available_memory() / 2**30:.1f} GiB",
        "self-test": _self_test(),
    }
    return Installation(machine, _packages())


def _self_test() -> str:
    """Fit a small model, write and read it, score with it; return the time that it took."""
    from rankwright.models.model_file import decode, encode

    started = time.perf_counter()
    data = rw.synthetic.gaussian_queries(20)
    ranker = rw.LambdaMART(rounds=5).fit(data)
    if (decode(encode(ranker.model_), "self-test").predict(data) != ranker.predict(data)).any():
        raise RuntimeError("A model that was written and read gives other scores; please report this.")
    return seconds(time.perf_counter() - started)


def _packages() -> list[Package]:
    """Return the packages in the metadata of this installation, those that are always needed first."""
    required = [each for each in requires("rankwright") or () if not ("win32" in each and sys.platform == "win32")]
    return [Package(*match.groups()) for each in required if (match := REQUIREMENT.match(each))]


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text.split("+")[0])]
