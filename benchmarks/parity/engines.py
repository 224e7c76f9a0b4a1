"""What search engines make of models that we export: the engine's own classes, run in one Java process."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

import rankwright as rw
from benchmarks.parity.jars import FOLDER, class_path

SOURCES = Path(__file__).with_name("java")
SECONDS = 600
OPENED = ["--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED"]


def by_elasticsearch(models, rows, folder):
    """Return what Elasticsearch's inference gives; it is the one that its learning to rank calls."""
    return _run("elasticsearch", models, rows, folder, lambda _: {"format": "elasticsearch"}, "x")


def by_vespa(models, rows, folder):
    """Return the values of ranking expressions."""
    return _run("vespa", models, rows, folder, lambda _: {"format": "vespa"}, "attribute(x")


def by_solr(models, rows, folder):
    """Return the scores of documents that an embedded Solr indexes and re-ranks."""
    home = folder / "solr"
    shutil.copytree(SOURCES / "solr", home)

    def options(name):
        return {"format": "solr", "name": name, "missing": False}

    return _run("solr", models, rows, folder, options, "x", str(home))


def _run(engine, models, rows, folder, options, prefix, *arguments):
    """Export all models, have the engine score their rows, and return the scores."""
    classes = compiled(engine)
    for number, (model, X) in enumerate(zip(models, rows, strict=True)):
        end = ")" if "(" in prefix else ""
        names = [f"{prefix}{column}{end}" for column in range(model.n_features)]
        rw.export(model, folder / f"model{number}", feature_names=names, **options(f"model{number}"))
        content = np.array(X.shape, dtype=">i4").tobytes() + X.astype(">f4").tobytes()
        (folder / f"rows{number}").write_bytes(content)
    command = ["java", *OPENED, "-Xmx1g", "-cp", classes, engine.capitalize(), str(folder), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    if answer.returncode:
        raise RuntimeError(f"{engine} failed: {answer.stderr[-2000:]}")
    return [np.fromfile(folder / f"scores{number}", dtype=">f8").astype(float) for number in range(len(models))]


def compiled(engine):
    """Return the class path of an engine with our program for it, which is compiled first."""
    path, target = class_path(engine), FOLDER / "classes" / engine
    sources = [str(SOURCES / f"{name}.java") for name in ("Jobs", engine.capitalize())]
    command = ["javac", "-cp", path, "-d", str(target), *sources]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return os.pathsep.join([str(target), path])
