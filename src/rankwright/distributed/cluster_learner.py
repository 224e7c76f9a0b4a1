"""Boosting on workers: the rounds of a tree ranker, whose documents are with them."""

from __future__ import annotations

from math import ldexp
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents
from rankwright.distributed.partition import Draw, RoundTrees, TreeStart
from rankwright.training.learners.tree import draw_seed
from rankwright.training.monitor import RoundBlock, RoundsEnd, WeightedModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.distributed.checkpoint import Checkpoint
    from rankwright.distributed.coordinator import Coordinator
    from rankwright.training.learners.signal import RunRounds
    from rankwright.training.learners.tree import TreeLearner

KNOWN_SIZES = 20_000  # of native/histograms/sampling.hpp
FIXED_POINT_BITS = 92  # of native/trees/leaf_sums.hpp


class ClusterRule:
    """The rule of a ranker whose signals are on the workers."""

    remedy: ClassVar[str] = "use a lower learning_rate"

    def __init__(self, coordinator: Coordinator, nothing_to_learn: str) -> None:
        self._coordinator, self._nothing_to_learn = coordinator, nothing_to_learn

    def first_signal(self, scores: Doubles) -> Doubles:
        """Refuse documents from which nothing can be learned."""
        _, any_hessian = self._coordinator.ask("gradients")
        if not any_hessian:
            raise InputError(self._nothing_to_learn)
        return scores

    def signal(self, scores: Doubles) -> Doubles:
        return scores

    def step(self, signal: Doubles, outputs: Doubles) -> float | None:
        raise NotImplementedError  # rounds run on the workers

    def native(self) -> ClusterRule:
        return self


class _Facts(NamedTuple):
    """What all documents say before a tree: the number drawn, steps of these and of all, exponents of sums."""

    n_sample: int
    steps: Doubles
    all_steps: Doubles
    exponents: NDArray[np.int64]


class ClusterLearner:
    """Grows the trees of each round on the sums that workers return.

    Parameters
    ----------
    learner
        The learner of the same trees on one machine, from which settings and draws come.
    measured
        Whether the values of the training queries are wanted after each round.
    checkpoint
        Where rounds are saved, from which a fit resumes.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        learner: TreeLearner,
        *,
        n_classes: int,
        learning_rate: float,
        measured: bool,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self._coordinator, self._trees = coordinator, learner
        self._classes: list[int | None] = [None] if learner.shared else list(range(n_classes))
        self._learning_rate, self._measured = learning_rate, measured
        self._checkpoint, self._rounds = checkpoint, list[RoundTrees]()
        self._saved = [] if checkpoint is None else checkpoint.resumed(self._trees)
        self._n_resumed = len(self._saved)
        self._workspace = _native.GrowthWorkspace()

    def fit(self, signal: object) -> Any:
        raise NotImplementedError  # rounds run on the workers

    def in_core(self, _rule: Any) -> RunRounds:
        """Return the rounds, which run on the workers."""
        return self._run

    def _run(self, _scores: Doubles, n_rounds: int, following: Floats) -> RoundBlock:
        members, outputs, values, diagnostics = [], [], [], []
        end = RoundsEnd.ALL_DONE
        documents = (
            Documents(following, np.zeros(len(following), np.int64), copy=False) if len(following) else None
        )
        for _ in range(n_rounds):
            before = self._counts()
            trees, end = self._round()
            if trees is None:
                break
            finite, measured = self._added(trees)
            if not finite:
                end = RoundsEnd.NOT_FINITE
                break
            model = self._trees.round_model(trees.trees)
            members.append(WeightedModel(trees.step, model))
            outputs.append(np.zeros(0) if documents is None else model.outputs(documents))
            values.append(np.concatenate([measured[number] for number in sorted(measured)]))
            diagnostics.append({name: count - before[name] for name, count in self._counts().items()})
        scores = np.zeros((len(members), 1))  # those of the documents are with the workers
        return RoundBlock(
            members,
            scores,
            np.array(outputs),
            end,
            diagnostics=diagnostics,
            measured=np.array(values) if self._measured else None,
        )

    def _counts(self) -> dict[str, float]:
        """Return what has happened so far: its differences are the diagnostics of a round."""
        coordinator = self._coordinator
        return {
            "lost_workers": float(coordinator.n_lost),
            "requests": float(coordinator.n_requests),
            "divisions": float(coordinator.n_divisions),
            "exchanged_bytes": float(coordinator.n_bytes),
        }

    def _round(self) -> tuple[RoundTrees | None, RoundsEnd]:
        """Return the trees of the next round; None if there are none, and why."""
        if self._saved:
            return self._saved.pop(0), RoundsEnd.ALL_DONE
        self._coordinator.begin_round()
        finite, _ = self._coordinator.ask("gradients")
        if not finite:
            return None, RoundsEnd.NOT_FINITE
        grown = RoundTrees(
            [self._grow(of_class) for of_class in self._classes], self._trees.shared, self._learning_rate
        )
        helps = any((np.ptp(values, axis=0) > 0.0).any() for values in map(self._leaf_values, grown.trees))
        return (grown, RoundsEnd.ALL_DONE) if helps else (None, RoundsEnd.NOTHING_LEFT)

    def _leaf_values(self, tree: dict[str, Any]) -> Doubles:
        values: Doubles = tree["leaf_value"]
        return values.reshape(len(tree["feature"]) + 1, -1)

    def _added(self, trees: RoundTrees) -> tuple[bool, dict[int, Doubles]]:
        """Add the trees to the scores of all documents; return whether these are finite, and values of queries."""
        is_new = len(self._rounds) >= self._n_resumed
        finite, measured = self._coordinator.ask("apply" if is_new else "replay", trees, self._measured)
        self._rounds.append(trees)
        self._coordinator.end_round(trees)
        if self._checkpoint is not None and is_new:
            self._checkpoint.save(self._rounds, self._trees)
        return finite, measured

    def _grow(self, of_class: int | None) -> dict[str, Any]:
        trees = self._trees
        facts = self._drawn(of_class, self._draw(of_class))
        tree = self._grown(of_class, facts, trees.draw_features())
        if trees.guard is not None:
            trees.guard = trees.guard.checked(self._workspace)
        if not len(tree["feature"]) and trees.draws:
            # The sample has no split with a gain, but all documents and features may have one.
            facts = self._drawn(of_class, Draw("all"))
            tree = self._grown(of_class, facts, np.arange(trees.binned.n_features, dtype=np.uint32))
        return tree

    def _draw(self, of_class: int | None) -> Draw:
        """Return how to draw documents; the generator is then where a draw on one machine leaves it."""
        trees, n_rows = self._trees, self._trees.binned.n_rows
        sampling, random = trees.sampling, trees.random
        if sampling.documents >= 1.0:
            return Draw("all")
        if trees.guard is not None:
            return self._draw_by_gradient(of_class, trees.guard.fraction)
        state: Any = random.bit_generator.state
        advanced = np.random.PCG64()
        advanced.state = state
        advanced.advance(len(self._trees.groups) if sampling.by == "queries" else n_rows)
        # Drawing numbers of 64 bits, unlike advancing, keeps half a number that was left over.
        random.bit_generator.state = state | {"state": advanced.state["state"]}
        return Draw(sampling.by, sampling.documents, state)

    def _draw_by_gradient(self, of_class: int | None, fraction: float) -> Draw:
        seed = draw_seed(self._trees.random)  # also if it is not needed, as on one machine
        if fraction >= 1.0:
            return Draw("all")
        parts = self._coordinator.ask("sizes", of_class, max(1, self._trees.binned.n_rows // KNOWN_SIZES))
        known = np.concatenate([parts[number] for number in sorted(parts)], axis=1)
        return Draw("gradient", mu=_native.size_threshold(list(known), fraction), seed=seed)

    def _drawn(self, of_class: int | None, draw: Draw) -> _Facts:
        n_sample, largest, of_all, exponents = self._coordinator.ask("draw", of_class, draw)
        if not n_sample:  # a round needs at least one document
            return self._drawn(of_class, Draw("all"))
        n_rows, levels = self._trees.binned.n_rows, self._trees.limits.levels

        def steps(sizes: Doubles, n: int) -> Doubles:
            return np.array([[_native.quantisation_step(size, n, levels) for size in pair] for pair in sizes])

        all_judge = self._trees.binned.matrix.coarse and n_sample < n_rows and not self._trees.shared
        return _Facts(
            n_sample, steps(largest, n_sample), steps(of_all, n_rows) if all_judge else np.zeros((0, 2)), exponents
        )

    def _grown(self, of_class: int | None, facts: _Facts, features: NDArray[np.uint32]) -> dict[str, Any]:
        trees = self._trees
        n_leaves = 4 * trees.limits.max_leaves + 1
        start = TreeStart(of_class, features, facts.steps, facts.all_steps, n_leaves)
        return _native.grow_remote_tree(
            trees.binned.matrix,
            _Parts(self._coordinator, start, facts.exponents),
            facts.n_sample,
            trees.binned.n_rows - facts.n_sample,
            features,
            trees.monotone,
            facts.steps,
            facts.all_steps,
            trees.shared,
            *trees.limits,
            trees.n_threads,
            self._workspace,
            symmetric=trees.symmetric,
        )


class _Parts:
    """The rows of all partitions, as the native grower asks for them."""

    def __init__(self, coordinator: Coordinator, start: TreeStart, exponents: NDArray[np.int64]) -> None:
        self._ask, self._start, self._exponents, self._has_begun = coordinator.ask, start, exponents, False

    def root(self) -> Any:
        self._has_begun = True
        return self._ask("root", self._start)

    def divide(self, divisions: NDArray[np.int64]) -> Any:
        return self._ask("divide", divisions)

    def sum_codes(self, leaves: NDArray[np.uint32], features: NDArray[np.uint32], n_counted: int) -> Any:
        return self._ask("sum_codes", leaves, features, n_counted)

    def sum_leaves(self, leaves: NDArray[np.uint32]) -> tuple[Doubles, Doubles]:
        if not self._has_begun:
            self.root()
        sums = self._ask("sum_leaves", self._start.of_class, leaves, self._exponents)
        exponents = self._exponents.T.ravel().tolist()
        numbers = np.array(
            [
                [ldexp(float(total), exponent - FIXED_POINT_BITS) for total in totals]
                for totals, exponent in zip(sums, exponents, strict=True)
            ]
        )
        n_classes = len(numbers) // 2
        return numbers[:n_classes], numbers[n_classes:]
