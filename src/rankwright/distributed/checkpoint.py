"""Rounds of a fit in a file, from which the fit resumes if its process was lost.

The file is a file of arrays (`base/array_files.py`), written whole or not at all: the arrays of all trees, one
after another, and a description with the state of the draws.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.base.array_files import ArrayFile, ArrayWriter
from rankwright.base.errors import InputError, parameter
from rankwright.base.files import require_writable, write_whole
from rankwright.distributed.partition import RoundTrees

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from rankwright.training.learners.tree import TreeLearner

REMEDY = "give another name to begin anew"
TREE_ARRAYS = {
    "feature": np.int32,
    "threshold": np.float32,
    "missing_left": np.uint8,
    "set_size": np.uint32,
    "set_words": np.uint32,
    "left": np.int32,
    "right": np.int32,
    "gain": np.float64,
    "cover": np.float64,
    "leaf_value": np.float64,
}


class Checkpoint:
    """Saves the rounds of a fit on a cluster; a fit with the same checkpoint resumes after the last saved round.

    Parameters
    ----------
    path
        The file; it is made by the first save, and stays when the fit ends.
    every
        Save after so many rounds.

    Examples
    --------
    >>> judged = rw.synthetic.polynomial_queries(20, n_documents=10, n_features=6, n_active=4)
    >>> rw.write_letor(judged, "judged.txt")
    >>> binned = rw.BinnedData.create("judged.txt", "judged.binned")
    >>> saved = rw.distributed.Checkpoint("fit.checkpoint", every=2)
    >>> rw.MART(rounds=4).fit(binned, cluster=2, checkpoint=saved).model_.n_trees
    4
    """

    def __init__(self, path: str | os.PathLike[str], *, every: int = 10) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(f"{parameter('every')} must be a positive integer, not {every!r}.")
        self.path, self.every = Path(path), every
        require_writable(self.path)
        self._fit: dict[str, Any] = {}

    def of_fit(self, fit: dict[str, Any]) -> Checkpoint:
        """Return the checkpoint of this fit; a file of another one is refused."""
        checkpoint = Checkpoint(self.path, every=self.every)
        checkpoint._fit = json.loads(json.dumps(fit))
        return checkpoint

    def save(self, rounds: Sequence[RoundTrees], learner: TreeLearner) -> None:
        """Save the rounds so far, if it is time."""
        if len(rounds) % self.every:
            return
        trees = [tree for trees in rounds for tree in trees.trees]
        about = {
            "fit": self._fit,
            "random": learner.random.bit_generator.state,
            "guard": None if learner.guard is None else learner.guard.state,
            "rounds": [[len(trees.trees), trees.shared, trees.step] for trees in rounds],
        }
        with write_whole(self.path) as file:
            writer = ArrayWriter(file)
            for name, dtype in TREE_ARRAYS.items():
                stored = np.int64 if dtype is np.int32 else dtype
                parts = [np.asarray(tree[name], stored) for tree in trees]
                writer.add(name, np.concatenate(parts))
                writer.add(f"n_{name}", np.array([len(part) for part in parts], np.int64))
            writer.add("about", np.frombuffer(json.dumps(about).encode(), np.uint8))
            writer.finish()

    def resumed(self, learner: TreeLearner) -> list[RoundTrees]:
        """Return the saved rounds, and give the learner its state after them; none if there is no file."""
        if not self.path.exists():
            return []
        file = ArrayFile(self.path, None, REMEDY)
        try:
            about = json.loads(file.verified("about", "uint8").tobytes())
            saved_fit, rounds = about["fit"], about["rounds"]
            if saved_fit == self._fit:
                learner.random.bit_generator.state = about["random"]
                if about["guard"] is not None:
                    learner.guard = _native.sample_guard(*about["guard"])
                return _rounds(file, rounds)
        except (ValueError, TypeError, KeyError, IndexError):
            raise file.damaged("it does not say what it holds") from None
        raise InputError(
            f"{self.path} is the checkpoint of another fit, of other documents or of another version; {REMEDY}."
        )


def _rounds(file: ArrayFile, described: Sequence[Any]) -> list[RoundTrees]:
    columns = {}
    for name, dtype in TREE_ARRAYS.items():
        stored = file.verified(name, np.dtype(np.int64 if dtype is np.int32 else dtype).name).astype(dtype)
        columns[name] = np.split(stored, np.cumsum(file.verified(f"n_{name}", "int64"))[:-1])
    rounds, first = [], 0
    for n_trees, shared, step in described:
        trees = [
            {name: parts[number] for name, parts in columns.items()} for number in range(first, first + n_trees)
        ]
        rounds.append(RoundTrees(trees, bool(shared), float(step)))
        first += n_trees
    return rounds
