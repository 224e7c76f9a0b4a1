"""The tool that a model file belongs to, in a process of its own: it may crash or hang on a damaged file.

`python -m fuzz.makers LIBRARY` answers every line of standard input with a line: the scores, or null if the
library refuses the file. A question is the path of a model, the number of features, and documents as a base64 text
of 32-bit floats, separated by tabs. The first line of the process says that the library is imported.
`RankLib.java` does the same with RankLib's jar, which RANKLIB_JAR names or `make engines` has fetched.
"""

import base64
import contextlib
import importlib.util
import json
import os
import queue
import resource
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

SECONDS, START_SECONDS = 20.0, 300.0
FETCHED = Path(__file__).parents[2] / "build" / "engines" / "jars"


def by_lightgbm(path, rows):
    import lightgbm

    model = lightgbm.Booster(model_file=path, params={"verbosity": -1})
    mean = model.num_trees() if "\naverage_output" in Path(path).read_text() else 1
    return model.predict(rows, raw_score=True, num_threads=1) / mean


def by_xgboost(path, rows):
    import xgboost

    content = Path(path).read_bytes()
    model = xgboost.Booster({"nthread": 1}, model_file=bytearray(content))
    return model.predict(xgboost.DMatrix(rows, nthread=1), output_margin=True, validate_features=False)


def by_catboost(path, rows):
    import catboost

    model = catboost.CatBoost().load_model(path, format="json")
    return model.predict(rows, prediction_type="RawFormulaVal", thread_count=1)


MAKERS = {"lightgbm": by_lightgbm, "xgboost": by_xgboost, "catboost": by_catboost}


def maker_of(name):
    """Return a tool by its name, or None if it is not installed."""
    jar = ranklib_jar()
    if name in MAKERS and importlib.util.find_spec(name):
        return Maker([sys.executable, "-m", "fuzz.makers", name])
    if name == "ranklib" and jar is not None and shutil.which("java"):
        return Maker(["java", "-Xmx1g", "-cp", str(jar), str(Path(__file__).with_name("RankLib.java"))])
    return None


def ranklib_jar():
    """Return RankLib's jar, or None if it is not here."""
    given = os.environ.get("RANKLIB_JAR")
    jars = [Path(given)] if given else sorted(FETCHED.glob("RankyMcRankFace-*.jar"))
    return next((jar for jar in jars if jar.is_file()), None)


def _without_limit():
    """Undo the limit of memory that is for the cases of a fuzzer."""
    highest = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (highest, highest))


class Maker:
    """A process that runs a tool, and another one after each that ends."""

    def __init__(self, command):
        self._command = command
        self._start()

    def _start(self):
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=_without_limit,
        )
        self._answers, self._ready = queue.Queue(), False
        threading.Thread(target=self._listen, args=(self._process, self._answers), daemon=True).start()

    def await_start(self):
        """Wait until the tool is loaded, which takes longer than to score."""
        if not self._ready:
            self._ready = self._answers.get(timeout=START_SECONDS) is not None

    @staticmethod
    def _listen(process, answers):
        for line in process.stdout:
            answers.put(line)
        answers.put(None)

    def scores(self, path, rows):
        """Return the tool's scores, or None if it refuses the file, crashes or hangs."""
        packed = base64.b64encode(rows.astype("<f4").tobytes()).decode()
        question = f"{path}\t{rows.shape[1]}\t{packed}\n"
        line = None
        with contextlib.suppress(BrokenPipeError, queue.Empty):
            self.await_start()
            self._process.stdin.write(question)
            self._process.stdin.flush()
            line = self._answers.get(timeout=SECONDS)
        if line is None:
            self._process.kill()
            self._process.wait()
            self._start()
            return None
        found = json.loads(line)
        return None if found is None else np.array(found, dtype=np.float64)


def main(library):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries write to standard output
    importlib.import_module(library)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(_answered(MAKERS[library], line) or "null", file=answers, flush=True)


def _answered(scores, question):
    """Return the answer of a forked process, which may crash or be ended for its time, or nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(int(SECONDS) // 2)
        with contextlib.suppress(Exception), os.fdopen(writing, "w") as answer:  # whatever it says, it refuses
            path, width, packed = question.split("\t")
            rows = np.frombuffer(base64.b64decode(packed), dtype="<f4").reshape(-1, int(width))
            answer.write(json.dumps(np.asarray(scores(path, rows), dtype=float).ravel().tolist()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return found


if __name__ == "__main__":
    main(sys.argv[1])
