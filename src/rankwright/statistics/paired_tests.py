"""Paired comparisons of systems over the same queries: differences, four tests, Holm's correction, and power."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import checked_numbers
from rankwright.base.errors import InputError, requiring
from rankwright.base.wording import capitalised, counted, difference, said_p_value
from rankwright.reports.blocks import Column, Interval, Kind, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import BLOCK, SAMPLES, sign_flip_p_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles


POWER = 0.8
MAX_EXACT_LIMIT = 30.0  # of t
MAX_TABULATED = 200  # above, the normal approximation is right to one query


def t_limit(n_queries: int | Doubles, level: float) -> Doubles:
    """Return the value of Student's t that is exceeded in either direction with probability 1 - level."""
    with requiring("scipy"):
        from scipy.special import stdtrit

    n = np.asarray(n_queries, dtype=np.float64)
    return np.where(n > 1, stdtrit(np.maximum(n - 1.0, 1.0), (1.0 + level) / 2.0), np.nan)


def detectable_effect(n_queries: int | Doubles, *, level: float, power: float = POWER) -> Doubles:
    """Return the smallest mean difference, in standard deviations, that is significant with this probability.

    By the noncentral t distribution; the chance of a significant difference in the wrong direction is neglected.
    Far out, where scipy would compute for minutes, a normal approximation is used (Johnson and Welch 1940),
    which is right to five percent.
    """
    with requiring("scipy"):
        from scipy.special import nctdtrinc, ndtri

    n = np.asarray(n_queries, dtype=np.float64)
    freedom, limits = np.maximum(n - 1.0, 1.0), t_limit(n, level)
    exact = nctdtrinc(freedom, 1.0 - power, np.minimum(limits, MAX_EXACT_LIMIT))
    normal = limits * (1.0 - 0.25 / freedom) + ndtri(power) * np.sqrt(1.0 + limits**2 / (2.0 * freedom))
    return np.asarray(np.where(limits <= MAX_EXACT_LIMIT, exact, normal) / np.sqrt(n))


def queries_needed(effects: Doubles, *, level: float, power: float = POWER) -> Doubles:
    """Return the number of queries that show each difference, in standard deviations, with this probability.

    Infinite for a difference of 0, NaN for NaN.
    """
    with requiring("scipy"):
        from scipy.special import ndtri

    sizes = np.arange(2.0, MAX_TABULATED + 1.0)
    tabulated = detectable_effect(sizes, level=level, power=power)
    effects = np.abs(effects)
    index = len(sizes) - np.searchsorted(tabulated[::-1], effects, side="right")
    limit = ndtri((1.0 + level) / 2.0)
    with np.errstate(divide="ignore"):
        # Guenther (1981)
        many = np.ceil(((limit + ndtri(power)) / effects) ** 2 + limit**2 / 2.0)
    needed = np.where(index < len(sizes), sizes[np.minimum(index, len(sizes) - 1)], many)
    return np.where(np.isnan(effects), np.nan, needed)


RANDOMISATION, T, WILCOXON, SIGN = "randomisation", "t", "wilcoxon", "sign"
TESTS = (RANDOMISATION, T, WILCOXON, SIGN)

MAX_EXACT = 13  # queries for which the signed-rank test tries all signs; as scipy's, which is exact up to
MAX_EXACT_UNTIED = 50  # if no differences are zero or equal
DECIMALS = 12  # of differences: below is rounding, which must not decide between better and worse


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """A paired comparison of two systems over queries.

    `interval` is that of the paired t-test; NaN for a single query. `p_value` is the fraction of sign flips of the
    queries' differences whose mean is at least as far from 0 as the observed one: the paired randomisation test
    (Smucker, Allan & Carterette 2007).
    """

    difference: float
    interval: tuple[float, float]
    p_value: float
    better: int
    worse: int
    equal: int

    @property
    def summary(self) -> str:
        """The difference and its p-value, in one sentence."""
        return capitalised(self._finding)

    @property
    def _finding(self) -> str:
        counts = f"{self.better:,} better, {self.equal:,} equal, {self.worse:,} worse"
        queries = counted(self.better + self.equal + self.worse, "query")
        chance = said_p_value(self.p_value) if isfinite(self.p_value) else "not tested"
        return f"the difference is {difference(self.difference)}, {chance}; of {queries}, {counts}."

    def blocks(self) -> list[Table]:
        """Return the difference with its interval, its p-value, and the numbers of queries."""
        columns = [
            Column("difference", Kind.DIFFERENCE),
            Column("p", Kind.P_VALUE),
            *(Column(name, Kind.COUNT) for name in ("better", "equal", "worse")),
        ]
        interval = Interval(self.difference, *self.interval)
        return [Table(columns, [(interval, self.p_value, self.better, self.equal, self.worse)])]


@dataclass(frozen=True, repr=False)
class PairComparison(Comparison):
    """A comparison of two of several systems: `difference` is the mean of `system` minus that of `other`.

    Parameters
    ----------
    p_values
        By test: `randomisation`, `t`, `wilcoxon` and `sign`; NaN where nothing could be tested.
    corrected
        The same, corrected for the number of pairs (Holm 1979).
    effect_size
        Cohen's d: the mean of the differences, divided by their standard deviation.
    superiority
        The probability that `system` is better on a query; equal values count half.
    detectable
        The smallest difference that a t-test of these queries would have shown with probability 0.8.
    queries_needed
        The number of queries that would show the observed difference with probability 0.8.
    """

    system: str
    other: str
    n_queries: int
    p_values: Mapping[str, float]
    corrected: Mapping[str, float]
    effect_size: float
    superiority: float
    detectable: float
    queries_needed: float

    @property
    def summary(self) -> str:
        """The systems, their difference and its p-value, in one sentence."""
        return f"{self.system} against {self.other}: {self._finding}"

    def turned(self) -> PairComparison:
        """Return the same comparison seen from the other system."""
        low, high = self.interval
        return replace(
            self,
            system=self.other,
            other=self.system,
            difference=-self.difference,
            interval=(-high, -low),
            better=self.worse,
            worse=self.better,
            effect_size=-self.effect_size,
            superiority=1.0 - self.superiority,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values, the names of the systems first."""
        facts = asdict(self)
        return {"one": facts.pop("system"), "other": facts.pop("other"), **facts}


@dataclass(frozen=True, eq=False)
class PairedTests:
    """Comparisons of many pairs of systems; each column has one value per pair."""

    systems: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    n_queries: int
    columns: Mapping[str, Doubles]
    p_values: Mapping[str, Doubles]
    corrected: Mapping[str, Doubles]

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[PairComparison]:
        return map(self.at, range(len(self)))

    def at(self, index: int) -> PairComparison:
        """Return the comparison of a pair by its number."""
        column = {name: values[index].item() for name, values in self.columns.items()}
        counts = {name: int(column.pop(name)) for name in ("better", "worse", "equal")}
        p_values = {test: self.p_values[test][index].item() for test in TESTS}
        return PairComparison(
            system=self.systems[self.first[index]],
            other=self.systems[self.second[index]],
            n_queries=self.n_queries,
            interval=(column.pop("low"), column.pop("high")),
            p_value=p_values[RANDOMISATION],
            p_values=p_values,
            corrected={test: self.corrected[test][index].item() for test in TESTS},
            **counts,
            **column,
        )

    def pair(self, system: str, other: str) -> PairComparison:
        """Return the comparison of two systems, in either order."""
        numbers = [self.systems.index(name) for name in (system, other)]
        for (first, second), turned in ((numbers, False), (numbers[::-1], True)):
            matches = np.flatnonzero((self.first == first) & (self.second == second))
            if len(matches):
                pair = self.at(int(matches[0]))
                return pair.turned() if turned else pair
        raise InputError(f"{system} and {other} were not compared with each other.")


def compare_values(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95, samples: int = SAMPLES, random_state: int = 0
) -> Comparison:
    """Compare two systems' values on the same queries; queries with NaN in either are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> old, new = np.array([0.2, 0.5, 0.1, 0.7, 0.4]), np.array([0.3, 0.7, 0.4, 0.7, 0.6])
    >>> compared = rw.compare_values(new, old)  # one value per query
    >>> round(compared.difference, 2), compared.better, compared.equal, compared.p_value
    (0.16, 4, 1, 0.125)
    >>> compared
    <Comparison: The difference is +0.1600, p = 0.125; of 5 queries, 4 better, 1 equal, 0 worse.>
    """
    first, second = checked_numbers(first, "Values"), checked_numbers(second, "Values")
    if first.ndim != 1 or second.ndim != 1:
        raise InputError("Values must be lists with one number per query.")
    if first.shape != second.shape:
        sizes = f"one has {len(first)} values, the other {len(second)}"
        raise InputError(f"Both systems need the same queries: {sizes}.")
    kept = ~np.isnan(first - second)
    if not kept.any():
        raise InputError("There is no query for which both systems have a value.")
    values, (row, other_row) = np.array([first[kept], second[kept]]), np.arange(2)[:, None]
    (p_value,) = sign_flip_p_values(values, row, other_row, samples=samples, random_state=random_state).tolist()
    columns = _columns(_differences(values, row, other_row), level)
    low, high, mean = (columns[name].item() for name in ("low", "high", "difference"))
    counts = (int(columns[name].item()) for name in ("better", "worse", "equal"))
    return Comparison(mean, (low, high), p_value, *counts)


def compare_pairs(
    systems: Sequence[str],
    values: Doubles,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    level: float,
    random_state: int,
    tested: bool = True,
) -> PairedTests:
    """Compare pairs of systems by their values: one row per system, one column per query, no NaN.

    Parameters
    ----------
    first, second
        The systems of each pair, by number.
    tested
        Whether to test the differences; if not, p-values are NaN, as they are with a single query.
    """
    n_queries = values.shape[1]
    step = max(1, BLOCK // n_queries)
    columns, tests = [], []
    for start in range(0, len(first), step):
        differences = _differences(values, first[start : start + step], second[start : start + step])
        columns.append(_columns(differences, level, n_pairs=len(first)))
        if tested and n_queries > 1:
            tests.append({test: test_rows(differences) for test, test_rows in TESTS_OF_DIFFERENCES.items()})
    if tests:
        flips = sign_flip_p_values(values, first, second, random_state=random_state)
        p_values = {RANDOMISATION: flips, **_joined(tests)}
    else:
        p_values = {test: np.full(len(first), np.nan) for test in TESTS}
    corrected = {test: holm(p_values[test]) for test in TESTS}
    return PairedTests(tuple(systems), first, second, n_queries, _joined(columns), p_values, corrected)


def corrected_together(families: Sequence[PairedTests]) -> list[PairedTests]:
    """Return comparisons with p-values corrected for the number of all together, such as those of all slices."""
    ends = np.cumsum([len(family) for family in families])[:-1]
    joined = {test: holm(np.concatenate([family.p_values[test] for family in families])) for test in TESTS}
    split = {test: np.split(values, ends) for test, values in joined.items()}
    return [
        replace(family, corrected={test: split[test][number] for test in TESTS})
        for number, family in enumerate(families)
    ]


def _differences(values: Doubles, first: NDArray[np.int64], second: NDArray[np.int64]) -> Doubles:
    return np.round(values[first] - values[second], DECIMALS)


def _joined(parts: Sequence[Mapping[str, Doubles]]) -> dict[str, Doubles]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _columns(differences: Doubles, level: float, *, n_pairs: int = 1) -> dict[str, Doubles]:
    """Return what is known of each row of differences without a test.

    What can be detected is meant after the correction for so many pairs, by Bonferroni's bound.
    """
    n = differences.shape[1]
    better, worse = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    equal = n - better - worse
    means, spreads = differences.mean(axis=1), _standard_deviations(differences)
    same_everywhere = np.where(means == 0, 0.0, np.copysign(np.inf, means))
    effects = np.divide(means, spreads, out=same_everywhere, where=spreads != 0)
    corrected = 1.0 - (1.0 - level) / n_pairs
    certain = (spreads == 0) & (means != 0)  # no error can be estimated from differences that are all equal
    widths = np.where(certain, np.nan, t_limit(n, level) * spreads / np.sqrt(n))
    return {
        "difference": means,
        "low": means - widths,
        "high": means + widths,
        "better": better,
        "worse": worse,
        "equal": equal,
        "effect_size": effects,
        "superiority": (better + equal / 2.0) / n,
        "detectable": np.where(certain, np.nan, detectable_effect(n, level=corrected) * spreads),
        "queries_needed": queries_needed(effects, level=corrected),
    }


def _standard_deviations(differences: Doubles) -> Doubles:
    """Return the standard deviation of each row, NaN for a single query, and exactly 0 for equal differences."""
    if differences.shape[1] == 1:
        return np.full(len(differences), np.nan)
    return np.where(np.ptp(differences, axis=1) == 0, 0.0, differences.std(axis=1, ddof=1))


def t_p_values(differences: Doubles) -> Doubles:
    """Return the two-sided p-value of the paired t-test for each row of differences."""
    with requiring("scipy"):
        from scipy.stats import ttest_1samp

    means, spreads = differences.mean(axis=1), np.ptp(differences, axis=1)
    p_values = np.where(means == 0, 1.0, np.nan)  # differences that are all equal tell nothing of their error
    varied = spreads > 0
    if varied.any():
        p_values[varied] = ttest_1samp(differences[varied], 0.0, axis=1).pvalue
    return p_values


def wilcoxon_p_values(differences: Doubles) -> Doubles:
    """Return the two-sided p-value of Wilcoxon's signed-rank test for each row; differences of 0 are left out.

    Like scipy's `wilcoxon` of each row alone: exact for few queries, normal approximation for many.
    """
    with requiring("scipy"):
        from scipy.stats import rankdata, wilcoxon

    n_queries = differences.shape[1]
    zeros = (differences == 0).sum(axis=1, keepdims=True)
    ranks = rankdata(np.abs(differences), axis=1) - zeros  # zeros have the lowest ranks
    if n_queries <= MAX_EXACT:
        signed = np.vstack([np.sign(differences) * ranks, np.zeros(n_queries)])
        pairs = np.arange(len(differences))
        return sign_flip_p_values(signed, pairs, np.full(len(pairs), len(pairs)), samples=2**n_queries)
    p_values = np.ones(len(differences))
    untied = (zeros[:, 0] == 0) & (np.sort(ranks, axis=1) == np.arange(1, n_queries + 1)).all(axis=1)
    exact = untied & (n_queries <= MAX_EXACT_UNTIED)
    asymptotic = ~exact & (zeros[:, 0] < n_queries)
    if exact.any():
        p_values[exact] = wilcoxon(differences[exact], axis=1, method="exact").pvalue
    if asymptotic.any():
        p_values[asymptotic] = wilcoxon(differences[asymptotic], axis=1, method="approx").pvalue
    return p_values


def sign_p_values(differences: Doubles) -> Doubles:
    """Return the two-sided p-value of the sign test, a binomial test of better and worse queries, for each row."""
    with requiring("scipy"):
        from scipy.stats import binom

    better, worse = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    return np.asarray(np.minimum(1.0, 2.0 * binom.cdf(np.minimum(better, worse), better + worse, 0.5)))


def holm(p_values: Doubles) -> Doubles:
    """Return p-values corrected for their number by Holm's step-down method; NaN stays, and is not counted."""
    corrected = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    steps = np.arange(len(order), 0, -1) * p_values[order]
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


TESTS_OF_DIFFERENCES = {T: t_p_values, WILCOXON: wilcoxon_p_values, SIGN: sign_p_values}
