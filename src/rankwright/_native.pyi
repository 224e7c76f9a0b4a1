"""Typed face of the C++ core. Every array is contiguous; query q's places are offsets[q] to offsets[q + 1]."""

import enum
from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

class SortedQueries:
    @property
    def order(self) -> NDArray[np.int64]: ...
    @property
    def tied(self) -> NDArray[np.bool_]: ...

def sort_within_queries(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    tie_break: NDArray[np.float64] | None,
    n_threads: int,
) -> SortedQueries: ...

class QueryColumn(enum.Enum):
    zscore = ...
    rank = ...
    minmax = ...

def query_columns(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    values: NDArray[np.float32],
    kinds: Sequence[QueryColumn],
    raw: bool,
    n_threads: int,
) -> NDArray[np.float32]: ...
def standardise_scores(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    scores: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def widest_path() -> int: ...
def exponentials(values: NDArray[np.float64], path: int) -> NDArray[np.float64]: ...
def count_above(keys: NDArray[np.float32], path: int) -> NDArray[np.int32]: ...
def discounted_gains(
    ranking: SortedQueries,
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def ndcgs(
    ranking: SortedQueries,
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def mean_ndcgs(
    ranking: SortedQueries,
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def average_precisions(
    ranking: SortedQueries,
    average_ties: bool,
    labels: NDArray[np.float64],
    threshold: float,
    depth: int | None,
    capped: bool,
    n_threads: int,
) -> NDArray[np.float64]: ...
def reciprocal_ranks(
    ranking: SortedQueries,
    average_ties: bool,
    labels: NDArray[np.float64],
    threshold: float,
    depth: int | None,
    n_threads: int,
) -> NDArray[np.float64]: ...
def expected_reciprocal_ranks(
    ranking: SortedQueries,
    average_ties: bool,
    stop_probability: NDArray[np.float64],
    depth: int | None,
    n_threads: int,
) -> NDArray[np.float64]: ...
def pair_accuracies(
    ranking: SortedQueries,
    average_ties: bool,
    labels: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...

# A metric of given documents, for boost_trees. Each takes the arguments of the function after which it is named.
class RankMeasure:
    # One row of values per row of scores, each of all documents.
    def of_rounds(self, scores: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]: ...

def discounted_gains_measure(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
) -> RankMeasure: ...
def ndcgs_measure(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
) -> RankMeasure: ...
def mean_ndcgs_measure(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    average_ties: bool,
    gains: NDArray[np.float64],
    discounts: NDArray[np.float64],
) -> RankMeasure: ...
def average_precisions_measure(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    average_ties: bool,
    labels: NDArray[np.float64],
    threshold: float,
    depth: int | None,
    capped: bool,
) -> RankMeasure: ...
def reciprocal_ranks_measure(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    average_ties: bool,
    labels: NDArray[np.float64],
    threshold: float,
    depth: int | None,
) -> RankMeasure: ...
def expected_reciprocal_ranks_measure(
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    average_ties: bool,
    stop_probability: NDArray[np.float64],
    depth: int | None,
) -> RankMeasure: ...
def pair_accuracies_measure(
    offsets: NDArray[np.int64], rows: NDArray[np.int64], average_ties: bool, labels: NDArray[np.float64]
) -> RankMeasure: ...
def margin_sums(
    ranking: SortedQueries,
    labels: NDArray[np.float64],
    weights: NDArray[np.float64],
    values: NDArray[np.float64],
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

# The numbers of crossings of each row, and the average precision lost by each query.
def most_violated_precision(
    ranking: SortedQueries, relevant: NDArray[np.bool_], n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...

# What the kernels of pairs take besides the arguments of their metric.
class PairArguments(TypedDict):
    offsets: NDArray[np.int64]
    labels: NDArray[np.float64]
    query_weights: NDArray[np.float64] | None
    truncation: int | None
    normalise: bool
    sigma: float

class RankedPairs(PairArguments):
    order: NDArray[np.int64]
    scores: NDArray[np.float64]
    n_threads: int
    path: NotRequired[int | None]

class RowPairs(PairArguments):
    rows: NDArray[np.int64]
    row_weights: NDArray[np.float64] | None

def linear_lambdas(
    *,
    gains: NDArray[np.float32],
    discounts: NDArray[np.float64],
    query_factors: NDArray[np.float64],
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def linear_by_query_lambdas(
    *,
    gains: NDArray[np.float32],
    discounts: NDArray[np.float64],
    query_factors: NDArray[np.float64],
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def average_precision_lambdas(
    *,
    threshold: float,
    depth: int | None,
    capped: bool,
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def reciprocal_rank_lambdas(
    *,
    threshold: float,
    depth: int | None,
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def expected_reciprocal_rank_lambdas(
    *,
    stop_probability: NDArray[np.float64],
    depth: int | None,
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def even_lambdas(
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def neighbour_lambdas(
    *,
    scale: float,
    n_orders: int,
    seed: int,
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def network_scores(
    *,
    widths: NDArray[np.int64],
    parameters: NDArray[np.float64],
    missing: NDArray[np.float64],
    values: NDArray[np.float32],
    n_threads: int,
) -> NDArray[np.float64]: ...
def network_slope(
    *,
    widths: NDArray[np.int64],
    parameters: NDArray[np.float64],
    missing: NDArray[np.float64],
    values: NDArray[np.float32],
    pull: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def given_lambdas(
    *,
    deltas: NDArray[np.float64],
    **documents: Unpack[RankedPairs],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class QueryPull:
    def __call__(self, query: int, scores: NDArray[np.float64]) -> NDArray[np.float64]: ...

def linear_pull(
    *,
    gains: NDArray[np.float32],
    discounts: NDArray[np.float64],
    query_factors: NDArray[np.float64],
    **documents: Unpack[PairArguments],
) -> QueryPull: ...
def linear_by_query_pull(
    *,
    gains: NDArray[np.float32],
    discounts: NDArray[np.float64],
    query_factors: NDArray[np.float64],
    **documents: Unpack[PairArguments],
) -> QueryPull: ...
def average_precision_pull(
    *,
    threshold: float,
    depth: int | None,
    capped: bool,
    **documents: Unpack[PairArguments],
) -> QueryPull: ...
def reciprocal_rank_pull(
    *,
    threshold: float,
    depth: int | None,
    **documents: Unpack[PairArguments],
) -> QueryPull: ...
def expected_reciprocal_rank_pull(
    *,
    stop_probability: NDArray[np.float64],
    depth: int | None,
    **documents: Unpack[PairArguments],
) -> QueryPull: ...
def even_pull(
    **documents: Unpack[PairArguments],
) -> QueryPull: ...
def cross_entropy_pull(*, offsets: NDArray[np.int64], labels: NDArray[np.float64]) -> QueryPull: ...

class GradientRule: ...

def linear_rule(
    *,
    gains: NDArray[np.float32],
    discounts: NDArray[np.float64],
    query_factors: NDArray[np.float64],
    **documents: Unpack[RowPairs],
) -> GradientRule: ...
def neighbour_rule(
    *,
    scale: float,
    n_orders: int,
    seed: int,
    **documents: Unpack[RowPairs],
) -> GradientRule: ...
def average_precision_rule(
    *,
    threshold: float,
    depth: int | None,
    capped: bool,
    **documents: Unpack[RowPairs],
) -> GradientRule: ...
def reciprocal_rank_rule(
    *,
    threshold: float,
    depth: int | None,
    **documents: Unpack[RowPairs],
) -> GradientRule: ...
def expected_reciprocal_rank_rule(
    *,
    stop_probability: NDArray[np.float64],
    depth: int | None,
    **documents: Unpack[RowPairs],
) -> GradientRule: ...

# New parameters, mean and mean square; None once a score is not finite. Empty means: plain gradient descent.
def train_network(
    *,
    widths: NDArray[np.int64],
    parameters: NDArray[np.float64],
    mean: NDArray[np.float64],
    mean_square: NDArray[np.float64],
    n_steps: int,
    learning_rate: float,
    values: NDArray[np.float32],
    offsets: NDArray[np.int64],
    queries: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    pull: QueryPull | Callable[[int, NDArray[np.float64]], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None: ...

class LetorFault(enum.Enum):
    label_missing = ...
    label_not_number = ...
    label_not_finite = ...
    query_missing = ...
    pair_malformed = ...
    feature_not_positive = ...
    feature_order = ...
    feature_too_high = ...
    value_not_number = ...
    value_not_finite = ...
    id_not_text = ...
    query_id_too_long = ...
    line_too_long = ...
    comment_missing = ...

class LetorQueries(enum.Enum):
    field = ...
    comment = ...
    nowhere = ...

class LetorParser:
    def __init__(
        self,
        judged: bool,
        queries: LetorQueries,
        zero_based: bool,
        max_feature: int,
        max_line: int,
        max_query_id: int,
        n_threads: int,
    ) -> None: ...
    # Line (from 1), fault and token of the first faulty line.
    def feed(self, block: NDArray[np.uint8]) -> tuple[int, LetorFault, bytes] | None: ...
    # Fills `features`; returns labels (None if not judged), the query number of each row and the query ids by
    # number (both None if queries are named nowhere), and the document id of each row (empty where it has none;
    # None if no row has any).
    def finish(
        self, absent: float, features: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.int64] | None, list[str] | None, list[str] | None]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def longest_query_id(self) -> int: ...

class CsvFault(enum.Enum):
    too_few_fields = ...
    too_many_fields = ...
    quote_not_closed = ...
    text_after_quote = ...
    carriage_return = ...
    not_utf8 = ...
    record_too_long = ...

class CsvColumn:
    @property
    def name(self) -> str: ...
    @property
    def is_id(self) -> bool: ...
    @property
    def n_numbers(self) -> int: ...
    @property
    def n_texts(self) -> int: ...
    @property
    def first_missing_line(self) -> int | None: ...
    # Line and text of the first value that is not a number.
    @property
    def first_text(self) -> tuple[int, bytes] | None: ...
    # float64 for the label, float32 otherwise; NaN where a value is missing or text.
    def numbers(self) -> NDArray[Any]: ...
    # For each row the number of its id, and the ids by number.
    def ids(self) -> tuple[NDArray[np.int64], list[str]]: ...

class CsvParser:
    def __init__(self, delimiter: str, label: str | None, ids: list[str], max_record: int) -> None: ...
    # Line (from 1), fault and text (or number of fields) of the first faulty record.
    def feed(self, block: NDArray[np.uint8]) -> tuple[int, CsvFault, bytes] | None: ...
    def end(self) -> tuple[int, CsvFault, bytes] | None: ...
    def take_columns(self) -> list[CsvColumn]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...

# None if the text is not a matrix of numbers in JSON, or has one too large or with a long exponent.
def read_json_matrix(text: NDArray[np.uint8]) -> NDArray[np.float32] | None: ...
def format_letor_features(features: NDArray[np.float32], n_threads: int) -> list[bytes]: ...

ROW_PADDING: int

# Frequencies are numbers of documents by code, 256 per feature; they decide the coarse levels.
class Binning:
    # level_rows has the number of rows by level of each category, empty lists for numbers; empty: no categories.
    def __init__(
        self,
        edges: list[list[float]],
        frequencies: NDArray[np.uint32],
        coarse: bool,
        level_rows: list[list[int]],
    ) -> None: ...
    @property
    def edges(self) -> list[list[float]]: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def coarse(self) -> bool: ...
    def encode(self, values: NDArray[np.float32], n_threads: int) -> NDArray[np.uint8]: ...
    # Codes by column and bytes by row, of the rows in this order.
    def arrange(
        self, codes: NDArray[np.uint8], order: NDArray[np.int64], n_threads: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]: ...
    # A matrix over arrays of another owner, such as a mapped file; rows is flat, with ROW_PADDING more bytes. With
    # block_rows, both are read-only maps of files, which are read so many rows at a time. levels has the level of
    # each row, 2^32 - 1 where it is missing, of each category.
    def matrix(
        self,
        columns: NDArray[np.uint8],
        rows: NDArray[np.uint8],
        n_rows: int,
        block_rows: int,
        levels: NDArray[np.uint32],
    ) -> BinnedMatrix: ...

class BinnedMatrix(Binning):
    # The rows [first, last), which share the codes.
    def part(self, first: int, last: int) -> BinnedMatrix: ...
    @property
    def block_rows(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def has_categories(self) -> bool: ...
    def codes(self) -> NDArray[np.uint8]: ...
    def levels(self) -> NDArray[np.uint8]: ...

def find_all_edges(
    values: NDArray[np.float32], sample: NDArray[np.int64], max_bins: int, n_threads: int
) -> list[list[float]]: ...

# `n_levels` has one number per feature, 0 for numbers; categories have no edges.
def encode(
    values: NDArray[np.float32],
    rows: NDArray[np.int64],
    sample: NDArray[np.int64],
    edges: list[list[float]],
    coarse: bool,
    n_threads: int,
    n_levels: list[int] = [],
) -> BinnedMatrix: ...
def encode_column(values: NDArray[np.float32], edges: list[float], path: int) -> NDArray[np.uint8]: ...
def split_gains(
    left: NDArray[np.int64],
    total: int,
    gradient_step: float,
    hessian_step: float,
    l2: float,
    min_hessian: float,
    parent_gain: float,
    path: int,
) -> NDArray[np.float64]: ...

# About the highest sum of the gains of both sides, in steps; 0 if no split is allowed. The left side of a split is
# `before` and the sums up to the split's own.
def highest_sides(
    sums: NDArray[np.int64], before: int, gradient: int, hessian: int, least: int, l2: float, path: int
) -> float: ...

# Gains for sums of several classes, one row each; totals and steps are one per class.
def class_gains(
    left: NDArray[np.int64],
    totals: NDArray[np.int64],
    gradient_steps: NDArray[np.float64],
    hessian_steps: NDArray[np.float64],
    l2: float,
    min_hessian: float,
    parent_gain: float,
    path: int,
) -> NDArray[np.float64]: ...

# Sums of the values of the rows listed by column of codes, code and value.
def wide_sums(
    codes: NDArray[np.uint8], values: NDArray[np.int64], rows: NDArray[np.uint32], path: int
) -> NDArray[np.int64]: ...
def hash_rows(values: NDArray[np.float32], n_threads: int) -> NDArray[np.uint64]: ...

class GrowthWorkspace:
    def __init__(self) -> None: ...
    # By all trees, where codes are read in blocks.
    @property
    def bytes_read(self) -> int: ...
    # Of the tree that grow_tree or grow_class_tree grew last.
    def leaf_of_row(self) -> NDArray[np.uint32]: ...

# The fraction of rows that a tree is given as a sample; see native/histograms/sampling.hpp.
class SampleGuard:
    @property
    def fraction(self) -> float: ...
    @property
    def state(self) -> tuple[float, int, float, float]: ...
    # After the tree that was grown last in this workspace.
    def checked(self, workspace: GrowthWorkspace) -> SampleGuard: ...

def sample_guard(fraction: float, n_trees: int = 0, of_first: float = 0.0, of_all: float = 0.0) -> SampleGuard: ...

# Returns the tree's arrays by their names in TreeEnsemble, and the output of each row.
def grow_tree(
    binned: BinnedMatrix,
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
    sample: NDArray[np.uint32],
    sample_weights: NDArray[np.float64],
    features: NDArray[np.uint32],
    monotone: NDArray[np.int8],
    max_leaves: int,
    min_documents: int,
    min_hessian: float,
    l2: float,
    min_gain: float,
    levels: int,
    n_threads: int,
    workspace: GrowthWorkspace,
    symmetric: bool = False,
) -> tuple[dict[str, Any], NDArray[np.float64]]: ...

# The sum of the rows of each leaf, the same bits for any order of rows.
def leaf_sums(
    values: NDArray[np.float64], leaf_of_row: NDArray[np.uint32], n_leaves: int, n_threads: int
) -> NDArray[np.float64]: ...

# The same sums as multiples of 2^(exponent - 92), with 64 upper and 64 lower bits each; they add up over parts.
def fixed_sums(
    values: NDArray[np.float64], leaf_of_row: NDArray[np.uint32], n_leaves: int, exponent: int, n_threads: int
) -> NDArray[np.uint64]: ...
def common_exponent(values: NDArray[np.float64], n_threads: int) -> int: ...

# The largest gradient in size and the largest hessian of a sample, times its weights.
def largest_numbers(
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
    sample: NDArray[np.uint32],
    sample_weights: NDArray[np.float64],
) -> tuple[float, float]: ...
def quantisation_step(largest: float, n_rows: int, levels: int) -> float: ...

# The leaf of each row of codes in a tree whose thresholds are edges.
def leaves_by_codes(
    binned: BinnedMatrix,
    feature: NDArray[np.int32],
    threshold: NDArray[np.float32],
    missing_left: NDArray[np.uint8],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
) -> NDArray[np.uint32]: ...

# One part of the rows, while a tree grows on all parts; see native/trees/partition_rows.hpp.
class PartitionRows:
    def __init__(self, binned: BinnedMatrix, n_threads: int) -> None: ...
    def begin(
        self,
        gradient: NDArray[np.float64],
        hessian: NDArray[np.float64],
        sample: NDArray[np.uint32],
        sample_weights: NDArray[np.float64],
        features: NDArray[np.uint32],
        steps: NDArray[np.float64],
        all_steps: NDArray[np.float64],
        shared: bool,
        n_leaves: int,
    ) -> None: ...
    def root(self) -> NDArray[np.int64]: ...
    def divide(self, divisions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def sum_codes(
        self, leaves: NDArray[np.uint32], features: NDArray[np.uint32], n_counted: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def leaf_of_row(self, leaves: NDArray[np.uint32]) -> NDArray[np.uint32]: ...

# The tree of all parts, whose sums the methods of `parts` return: root, divide, sum_codes, sum_leaves.
def grow_remote_tree(
    binned: BinnedMatrix,
    parts: object,
    n_sample: int,
    n_rest: int,
    features: NDArray[np.uint32],
    monotone: NDArray[np.int8],
    steps: NDArray[np.float64],
    all_steps: NDArray[np.float64],
    shared: bool,
    max_leaves: int,
    min_documents: int,
    min_hessian: float,
    l2: float,
    min_gain: float,
    levels: int,
    n_threads: int,
    workspace: GrowthWorkspace,
    symmetric: bool = False,
) -> dict[str, Any]: ...

# A round grows one tree for all classes if they share it, otherwise one per class. Returns a tree per draw of rows
# and features: the arrays of grow_tree or grow_class_tree, one tree after another, and `splits`, where the splits
# of each begin; the scores after each round; the outputs of its trees for the documents that follow, class by
# class; the measure's value of every query after each; whether all draws were used (0), no split helped (1) or
# numbers were not finite (2); and the guard of the next sample. With a guard, a draw's seed samples from its rows,
# which are all rows.
def boost_trees(
    binned: BinnedMatrix,
    rule: GradientRule,
    shared: bool,
    scores: NDArray[np.float64],
    draws: Sequence[tuple[NDArray[np.uint32], NDArray[np.uint32], int]],
    monotone: NDArray[np.int8],
    max_leaves: int,
    min_documents: int,
    min_hessian: float,
    l2: float,
    min_gain: float,
    levels: int,
    shrinkage: float,
    following: NDArray[np.float32],
    sources: NDArray[np.int64],
    measure: RankMeasure | None,
    n_threads: int,
    guard: SampleGuard | None,
    workspace: GrowthWorkspace,
    symmetric: bool = False,
) -> tuple[
    dict[str, Any],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    int,
    SampleGuard | None,
]: ...
def squared_error_rule(targets: NDArray[np.float64], row_weights: NDArray[np.float64] | None) -> GradientRule: ...
def class_rule(
    targets: NDArray[np.float64], softmax: bool, row_weights: NDArray[np.float64] | None
) -> GradientRule: ...

# By the softmax of the scores, or the logistic function of each. One row per class.
def class_probabilities(scores: NDArray[np.float64], softmax: bool) -> NDArray[np.float64]: ...

# Feature, code, value, gain, step, documents above, documents without a value, agreement, log-loss, misordered.
PairRound: TypeAlias = tuple[int, int, float, float, float, int, int, float, float, float]

class WeightedPairs:
    def __init__(
        self,
        offsets: NDArray[np.int64],
        rows: NDArray[np.int64],
        labels: NDArray[np.uint8],
        strengths: NDArray[np.float64],
        shares: NDArray[np.float64],
    ) -> None: ...

def boost_pair_stumps(
    codes: SortedCodes,
    pairs: WeightedPairs,
    scores: NDArray[np.float64],
    n_rounds: int,
    squared: bool,
    learning_rate: float,
    diagnosed: bool,
    following: NDArray[np.float32],
    sources: NDArray[np.int64],
    measure: RankMeasure | None,
    n_threads: int,
) -> tuple[list[PairRound], float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int]: ...
def boost_pair_votes(
    binned: BinnedMatrix,
    pairs: WeightedPairs,
    scores: NDArray[np.float64],
    n_rounds: int,
    both_directions: bool,
    diagnosed: bool,
    following: NDArray[np.float32],
    sources: NDArray[np.int64],
    measure: RankMeasure | None,
    n_threads: int,
) -> tuple[list[PairRound], float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int]: ...

class VoteRule:
    def __init__(
        self, targets: NDArray[np.float64], weights: NDArray[np.float64], learning_rate: float
    ) -> None: ...
    def signed_weights(self, scores: NDArray[np.float64]) -> NDArray[np.float64]: ...

def edge_of_votes(signed_weights: NDArray[np.float64], votes: NDArray[np.float64]) -> float: ...

# Weights, scores and votes of documents have one row per class. Returns the tree's arrays by their names in
# TreeEnsemble, without leaf values, then the votes of each leaf and of each document.
def grow_hamming_tree(
    binned: BinnedMatrix,
    signed_weights: NDArray[np.float64],
    opposite: bool,
    max_leaves: int,
    n_threads: int,
    workspace: GrowthWorkspace,
) -> tuple[dict[str, Any], NDArray[np.float64], NDArray[np.float64]]: ...
def fit_product(
    binned: BinnedMatrix,
    signed_weights: NDArray[np.float64],
    opposite: bool,
    max_terms: int,
    n_threads: int,
    workspace: GrowthWorkspace,
) -> tuple[dict[str, Any], NDArray[np.float64], NDArray[np.float64]]: ...

# Returns the tree and its votes, the step, the scores and the outputs for the documents that follow, each by
# round; and why the rounds ended, as boost_trees does.
def boost_hamming_trees(
    binned: BinnedMatrix,
    rule: VoteRule,
    scores: NDArray[np.float64],
    n_rounds: int,
    opposite: bool,
    max_leaves: int,
    following: NDArray[np.float32],
    sources: NDArray[np.int64],
    n_threads: int,
    workspace: GrowthWorkspace,
) -> tuple[
    list[tuple[dict[str, Any], NDArray[np.float64]]],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    int,
]: ...
def boost_products(
    binned: BinnedMatrix,
    rule: VoteRule,
    scores: NDArray[np.float64],
    n_rounds: int,
    opposite: bool,
    max_terms: int,
    following: NDArray[np.float32],
    sources: NDArray[np.int64],
    n_threads: int,
    workspace: GrowthWorkspace,
) -> tuple[
    list[tuple[dict[str, Any], NDArray[np.float64]]],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    int,
]: ...
def smooth_dcg(
    offsets: NDArray[np.int64],
    scores: NDArray[np.float64],
    gains: NDArray[np.float64],
    sigma: float,
    n_threads: int,
) -> NDArray[np.float64]: ...
def log_sigmoid_losses(
    scores: NDArray[np.float64], own: NDArray[np.int64], sigmoids: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def size_threshold(values: Sequence[NDArray[np.float64]], fraction: float) -> float: ...
def draw_by_size(
    values: Sequence[NDArray[np.float64]], mu: float, seed: int, n_threads: int, first: int = 0
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]: ...

# As grow_tree, with one row of gradients per class; leaf values lie leaf by leaf, one number per class.
def grow_class_tree(
    binned: BinnedMatrix,
    gradient: NDArray[np.float64],
    hessian: NDArray[np.float64],
    sample: NDArray[np.uint32],
    sample_weights: NDArray[np.float64],
    features: NDArray[np.uint32],
    max_leaves: int,
    min_documents: int,
    min_hessian: float,
    l2: float,
    min_gain: float,
    levels: int,
    n_threads: int,
    workspace: GrowthWorkspace,
) -> tuple[dict[str, Any], NDArray[np.float64]]: ...

class TreeScorer:
    def __init__(
        self,
        splits: NDArray[np.int64],
        feature: NDArray[np.int32],
        threshold: NDArray[np.float32],
        missing_left: NDArray[np.uint8],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        set_size: NDArray[np.uint32],
        set_words: NDArray[np.uint32],
        leaf_value: NDArray[np.float64],
        n_features: int,
    ) -> None: ...
    # Scores by the path asked for, or the widest; None if a finite value is too large for 32 bits. X may have any
    # strides.
    def score(
        self, X: NDArray[np.float32] | NDArray[np.float64], n_threads: int, path: int | None = None
    ) -> NDArray[np.float64] | None: ...
    # The same for compressed rows, each feature at most once a row. Offsets and features are of one type.
    def score_sparse(
        self,
        offsets: NDArray[np.int32] | NDArray[np.int64],
        features: NDArray[np.int32] | NDArray[np.int64],
        values: NDArray[np.float32] | NDArray[np.float64],
        n_threads: int,
        path: int | None = None,
    ) -> NDArray[np.float64] | None: ...

# A row a document: what each feature adds to the score, and last the expected score.
def tree_contributions(
    splits: NDArray[np.int64],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float32],
    missing_left: NDArray[np.uint8],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    set_size: NDArray[np.uint32],
    set_words: NDArray[np.uint32],
    leaf_value: NDArray[np.float64],
    cover: NDArray[np.float64],
    values: NDArray[np.float32],
    n_threads: int,
) -> NDArray[np.float64]: ...

# Each query's value just above `low`; where their sum changes; by how much it then differs from the start.
def sweep_gains(
    *,
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    s: NDArray[np.float64],
    t: NDArray[np.float64],
    low: float,
    high: float,
    average_ties: bool,
    n_threads: int,
    gains: NDArray[np.float64],
    rank_weights: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def sweep_average_precisions(
    *,
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    s: NDArray[np.float64],
    t: NDArray[np.float64],
    low: float,
    high: float,
    average_ties: bool,
    n_threads: int,
    labels: NDArray[np.float64],
    threshold: float,
    depth: int | None,
    capped: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def sweep_reciprocal_ranks(
    *,
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    s: NDArray[np.float64],
    t: NDArray[np.float64],
    low: float,
    high: float,
    average_ties: bool,
    n_threads: int,
    labels: NDArray[np.float64],
    threshold: float,
    depth: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def sweep_expected_reciprocal_ranks(
    *,
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    s: NDArray[np.float64],
    t: NDArray[np.float64],
    low: float,
    high: float,
    average_ties: bool,
    n_threads: int,
    stop_probability: NDArray[np.float64],
    depth: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...

MOST_LABELS: int

# Rows of every query, highest code first, for every feature.
class SortedCodes:
    def __init__(self, binned: BinnedMatrix, offsets: NDArray[np.int64], n_threads: int) -> None: ...

# Gradient and hessian a row, and the logarithm of the sum of weights before they were made to sum to one.
def pair_gradients(
    offsets: NDArray[np.int64],
    labels: NDArray[np.uint8],
    strengths: NDArray[np.float64],
    shares: NDArray[np.float64],
    scores: NDArray[np.float64],
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]: ...
def misordered_share(
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    labels: NDArray[np.uint8],
    strengths: NDArray[np.float64],
    shares: NDArray[np.float64],
    scores: NDArray[np.float64],
    n_threads: int,
) -> float: ...

# Each gives a row a feature and a column a code, the last one for missing values.
def crossing_weights(
    codes: SortedCodes,
    labels: NDArray[np.uint8],
    strengths: NDArray[np.float64],
    shares: NDArray[np.float64],
    scores: NDArray[np.float64],
    log_sum: float,
    squared: bool,
    n_threads: int,
) -> NDArray[np.float64]: ...
def crossing_of_pairs(
    binned: BinnedMatrix,
    rows: NDArray[np.int64],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def sum_by_code(binned: BinnedMatrix, values: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]: ...
def column_codes(binned: BinnedMatrix, feature: int) -> NDArray[np.uint8]: ...
def set_leak_warnings(on: bool) -> None: ...

class Characters:
    def __init__(self, kinds: NDArray[np.uint8], mapped: NDArray[np.uint32]) -> None: ...

def words_of(texts: list[str], characters: Characters) -> list[list[str]]: ...

class WordedDocuments:
    def __init__(self) -> None: ...
    def add_texts(self, texts: list[str], characters: Characters, n_threads: int) -> None: ...
    def add_words(self, documents: list[list[str]]) -> None: ...
    def vocabulary(self) -> list[str]: ...
    def invert(self, terms: list[str | None], n_threads: int) -> dict[str, Any]: ...
    @property
    def n_documents(self) -> int: ...
    @property
    def n_words(self) -> int: ...

_Texts = tuple[NDArray[np.uint64], NDArray[np.uint8]]

def find_texts(
    places: NDArray[np.uint64], content: NDArray[np.uint8], order: NDArray[np.uint32] | None, wanted: list[str]
) -> NDArray[np.int64]: ...
def pack_texts(texts: list[str]) -> tuple[_Texts, NDArray[np.uint32]]: ...
def merge_texts(lists: Sequence[_Texts]) -> tuple[_Texts, list[NDArray[np.uint32]]]: ...

class Postings:
    def __init__(
        self,
        posting_places: NDArray[np.uint64],
        position_places: NDArray[np.uint64],
        block_places: NDArray[np.uint64],
        documents: NDArray[np.uint32],
        position_ends: NDArray[np.uint32],
        positions: NDArray[np.uint32],
        block_ends: NDArray[np.uint32],
        impact_places: NDArray[np.uint64],
        impacts: NDArray[np.uint32],
        lengths: NDArray[np.uint32],
        shortest: NDArray[np.uint32],
    ) -> None: ...
    @property
    def n_terms(self) -> int: ...
    def count(
        self, terms: NDArray[np.int64], removed: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def term(self, number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...

def block_impacts(
    posting_places: NDArray[np.uint64],
    documents: NDArray[np.uint32],
    position_ends: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    n_threads: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint32]]: ...
def shortest_lengths(lengths: NDArray[np.uint32]) -> NDArray[np.uint32]: ...

class PostingsMerge:
    def __init__(
        self, sources: list[tuple[Postings, NDArray[np.uint32], NDArray[np.uint32]]], n_terms: int
    ) -> None: ...
    def merge(
        self, first: int, last: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...
    @property
    def terms(self) -> NDArray[np.uint32]: ...
    @property
    def posting_places(self) -> NDArray[np.uint64]: ...
    @property
    def position_places(self) -> NDArray[np.uint64]: ...

class Weighting(enum.Enum):
    bm25 = ...
    dirichlet = ...
    jelinek_mercer = ...
    absolute_discounting = ...

def best_documents(
    postings: Sequence[Sequence[Postings]],
    removed: Sequence[NDArray[np.uint64]],
    weighting: Weighting,
    constant: float,
    slope: float,
    field_weights: NDArray[np.float64],
    terms: NDArray[np.int64],
    weights: NDArray[np.float64],
    scales: NDArray[np.float64],
    offsets: NDArray[np.int64],
    words: NDArray[np.int64],
    counts: NDArray[np.float64],
    starts: NDArray[np.float64],
    n: int,
    skip: bool,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def score_documents(
    postings: Sequence[Sequence[Postings]],
    distinct: Sequence[NDArray[np.uint32]],
    weighting: Weighting,
    constant: float,
    slope: float,
    field_weights: NDArray[np.float64],
    terms: NDArray[np.int64],
    weights: NDArray[np.float64],
    scales: NDArray[np.float64],
    offsets: NDArray[np.int64],
    words: NDArray[np.int64],
    counts: NDArray[np.float64],
    starts: NDArray[np.float64],
    document_offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    n_threads: int,
) -> NDArray[np.float64]: ...
def nearest_vectors(
    vectors: Sequence[NDArray[np.int8]],
    scales: Sequence[NDArray[np.float32]],
    removed: Sequence[NDArray[np.uint64]],
    queries: NDArray[np.int16],
    n: int,
    n_threads: int,
    path: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def vector_scores(
    vectors: Sequence[NDArray[np.int8]],
    scales: Sequence[NDArray[np.float32]],
    queries: NDArray[np.int16],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    n_threads: int,
    path: int | None = None,
) -> NDArray[np.float64]: ...

class TextFeature(enum.Enum):
    frequency = ...
    log_frequency = ...
    normalised_frequency = ...
    log_normalised_frequency = ...
    idf = ...
    icf = ...
    tf_idf = ...
    normalised_tf_idf = ...
    log_tf_idf = ...
    log_tf_icf = ...
    length = ...
    bm25 = ...
    log_bm25 = ...
    dirichlet = ...
    jelinek_mercer = ...
    absolute_discounting = ...
    cosine = ...
    matched_words = ...
    matched_fraction = ...
    minimal_span = ...
    span_density = ...
    closest_pair = ...
    pair_closeness = ...
    ordered_pairs = ...
    phrases = ...
    query_length = ...

def text_features(
    postings: Sequence[Sequence[Postings]],
    terms: NDArray[np.int64],
    distinct: Sequence[Sequence[NDArray[np.uint32]]],
    norms: Sequence[Sequence[NDArray[np.float32]]],
    n_documents: int,
    total_lengths: NDArray[np.int64],
    document_frequencies: NDArray[np.int64],
    collection_frequencies: NDArray[np.int64],
    weights: NDArray[np.float64],
    scales: NDArray[np.float64],
    starts: NDArray[np.float64],
    fields: NDArray[np.float64],
    word_offsets: NDArray[np.int64],
    words: NDArray[np.int64],
    places: NDArray[np.int64],
    document_offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    columns: NDArray[np.int64],
    n_threads: int,
) -> NDArray[np.float32]: ...
def document_vocabularies(
    postings: Sequence[Postings], terms: Sequence[NDArray[np.uint32]]
) -> tuple[NDArray[np.uint32], NDArray[np.float32]]: ...
def documents_with(
    postings: Sequence[Postings], terms: NDArray[np.int64], removed: NDArray[np.uint64]
) -> NDArray[np.int64]: ...

# Mean and deviation of each pair's attraction, examination and trust of classes, weights of nodes by stratum, and
# the objective before every step and after the last.
def fit_examination(
    offsets: NDArray[np.int64],
    strata: NDArray[np.int32],
    classes: NDArray[np.int32],
    shown: NDArray[np.float64],
    clicked: NDArray[np.float64],
    nodes: NDArray[np.float64],
    prior: NDArray[np.float64],
    examination: NDArray[np.float64],
    trust: NDArray[np.float64],
    prior_only: bool,
    max_steps: int,
    tolerance: float,
    n_threads: int,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]: ...

# By row the probability that it was read and that it satisfied, and the log-likelihood of each list.
def expect_reading(
    offsets: NDArray[np.int64],
    clicked: NDArray[np.uint8],
    attraction: NDArray[np.float64],
    satisfaction: NDArray[np.float64],
    continuation: float,
    n_threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
