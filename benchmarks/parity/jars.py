"""Java libraries from Maven Central, or the mirror that MAVEN_REPOSITORY names, each checked by its SHA-256.

`jars.txt` lists what each engine loads while it scores, found with `java -verbose:class`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.request
from pathlib import Path

CENTRAL = "https://repo1.maven.org/maven2"
LIST = Path(__file__).with_name("jars.txt")
FOLDER = Path(__file__).parents[2] / "build" / "engines"
SECONDS = 60


class UnavailableError(Exception):
    """Why an engine cannot be tried here, in one sentence."""


def class_path(engine: str) -> str:
    """Return the class path of an engine, whose jars are fetched if they are not there."""
    if shutil.which("java") is None or shutil.which("javac") is None:
        raise UnavailableError("there is no Java compiler (JDK 17)")
    return os.pathsep.join(str(_fetched(name, expected)) for name, expected in listed()[engine].items())


def listed() -> dict[str, dict[str, str]]:
    """Return the SHA-256 of each engine's jars by their Maven names."""
    engines: dict[str, dict[str, str]] = {}
    for line in LIST.read_text().splitlines():
        if line.startswith("["):
            jars = engines.setdefault(line.strip("[]"), {})
        elif line:
            name, digest = line.split()
            jars[name] = digest
    return engines


def version_of(engine: str) -> str:
    """Return the version of an engine's first jar."""
    return next(iter(listed()[engine])).split(":")[2]


def _fetched(name: str, expected: str) -> Path:
    group, artefact, version = name.split(":")
    path = FOLDER / "jars" / f"{artefact}-{version}.jar"
    if path.exists() and _digest(path.read_bytes()) == expected:
        return path
    base = os.environ.get("MAVEN_REPOSITORY", CENTRAL).rstrip("/")
    address = f"{base}/{group.replace('.', '/')}/{artefact}/{version}/{path.name}"
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as response:
            content = response.read()
    except OSError as error:
        raise UnavailableError(f"{name} cannot be fetched ({error})") from None
    if _digest(content) != expected:
        raise UnavailableError(f"{name} has another SHA-256 than in {LIST.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)
    return path


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
