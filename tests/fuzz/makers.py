"""The library that a model file belongs to, in a process of its own: it may crash or hang on a damaged file.

`python -m fuzz.makers LIBRARY` answers every line of standard input, a JSON object with the path of a model and
documents as a base64 text of 32-bit floats, with a line: the scores, or null if the library refuses the file. Its
first line says that the library is imported.
"""

import base64
import contextlib
import importlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

SECONDS, START_SECONDS = 20.0, 300.0


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


class Maker:
    """A process that runs a library, and another one after each that ends."""

    def __init__(self, library):
        self._library = library
        self._start()

    def _start(self):
        command = [sys.executable, "-m", "fuzz.makers", self._library]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._answers, self._ready = queue.Queue(), False
        threading.Thread(target=self._listen, args=(self._process, self._answers), daemon=True).start()

    @staticmethod
    def _listen(process, answers):
        for line in process.stdout:
            answers.put(line)
        answers.put(None)

    def scores(self, path, rows):
        """Return the library's scores, or None if it refuses the file, crashes or hangs."""
        packed = base64.b64encode(rows.astype("<f4").tobytes()).decode()
        question = {"path": str(path), "rows": packed, "width": rows.shape[1]}
        line = None
        with contextlib.suppress(BrokenPipeError, queue.Empty):
            if not self._ready:  # to import a library takes longer than to score
                self._ready = self._answers.get(timeout=START_SECONDS) is not None
            self._process.stdin.write(json.dumps(question) + "\n")
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
        question = json.loads(line)
        rows = np.frombuffer(base64.b64decode(question["rows"]), dtype="<f4").reshape(-1, question["width"])
        try:
            found = np.asarray(MAKERS[library](question["path"], rows), dtype=float).ravel().tolist()
        except Exception:  # whatever the library says, it refuses
            found = None
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
