"""Names that other libraries use for parameters and arguments, and what each of them is called here.

A name from LightGBM, XGBoost, CatBoost, scikit-learn or RankLib is refused like any unknown name, with a sentence
that says what to write instead. Nothing is translated in silence: defaults and meanings differ everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping


@dataclass(frozen=True)
class OtherName:
    """A parameter of rankers with another name; `note` says how to convert the value, if it differs."""

    ours: str
    note: str = ""

    def hint(self, kind: str, declared: Container[str]) -> str:
        """Return what to write instead, as the end of a sentence."""
        if self.ours not in declared:
            return f"other rankers have {self.ours}, but {kind} has nothing like it"
        return f"it is called {self.ours} here{self.note and '; '}{self.note}"


@dataclass(frozen=True)
class Argument:
    """An argument of `fit`; `example` shows it, and `note` says more."""

    example: str
    note: str = ""

    def hint(self, _kind: str, _declared: Container[str]) -> str:
        """Return what to write instead, as the end of a sentence."""
        return f"write fit(..., {self.example}){self.note and ', '}{self.note}"


@dataclass(frozen=True)
class Otherwise:
    """A name that has no counterpart here; `advice` says what to do instead."""

    advice: str

    def hint(self, _kind: str, _declared: Container[str]) -> str:
        """Return what to do instead, as the end of a sentence."""
        return self.advice


DEPTH = "trees grow best leaf first, and a tree of depth d has at most 2**d leaves"
NOT_NEEDED = "leave it out"

# The names in other libraries, and what they are here. RankLib's options are without their dash.
TABLE: Mapping[str, OtherName | Argument | Otherwise] = {
    (
        "n_estimators num_boost_round num_iterations n_iter num_trees num_round num_rounds nrounds n_rounds "
        "max_iter iterations n_trees tree epoch epochs"
    ): OtherName("rounds"),
    "num_leaves max_leaf_nodes max_leaf leaf n_leaves": OtherName("max_leaves"),
    "max_depth depth": OtherName("max_leaves", DEPTH),
    "eta shrinkage shrinkage_rate lr": OtherName("learning_rate"),
    "reg_lambda lambda_l2 l2_leaf_reg l2_regularization lambda lambda_ reg_l2": OtherName("l2"),
    "reg_alpha lambda_l1 alpha reg_l1": Otherwise(
        "there is no L1 regularisation; the parameter l2 shrinks the values of small leaves"
    ),
    "min_child_samples min_data_in_leaf min_samples_leaf mls": OtherName("min_documents"),
    "min_child_weight min_sum_hessian_in_leaf": OtherName("min_hessian"),
    "min_split_gain min_gain_to_split gamma": Otherwise("there is no minimum gain; use l2 or min_documents"),
    "colsample_bytree colsample rsm max_features frate": OtherName(
        "feature_fraction", "the fraction is drawn anew for each tree"
    ),
    "colsample_bylevel colsample_bynode feature_fraction_bynode": OtherName(
        "feature_fraction", "it is drawn for each tree, not for each level or node"
    ),
    "bagging_fraction srate": OtherName("subsample"),
    "subsample_freq bagging_freq": Otherwise(
        "the subsample is drawn anew in every round; leave it out, and set subsample=1 for no sampling"
    ),
    "max_bin border_count n_bins tc": OtherName("max_bins"),
    "seed random_seed bagging_seed": OtherName("random_state"),
    "n_threads num_threads nthread nthreads thread_count threads": OtherName("n_jobs"),
    "early_stopping_rounds early_stopping_round early_stopping od_wait n_iter_no_change estop": OtherName(
        "patience", "a number of rounds; fit(..., validation=...) gives the data that it looks at"
    ),
    "eval_metric eval_metrics ndcg_eval_at eval_at ndcg_at custom_metric metric2t scoring": OtherName(
        "metric", "such as metric='ndcg@10'; evaluate(..., metrics=...) measures others"
    ),
    "objective loss_function obj": Otherwise(
        "the ranker is the objective: LambdaMART(metric='ndcg@10') for lambdarank, rank:ndcg or YetiRank, "
        "LambdaMART(metric='map') for rank:map, RankNet for rank:pairwise, MART for regression"
    ),
    "lambdarank_truncation_level lambdarank_num_pair_per_sample lambdarank_pair_method": OtherName(
        "truncation", "the number of top ranks of which a pair must have at least one document"
    ),
    "label_gain": Otherwise(
        "gains belong to the metric: metric=NDCG(k=10, gain=Gain.table(0, 1, 3, 7)) of rankwright.metrics"
    ),
    "monotone_constraints monotonic_cst monotone_constraint": OtherName(
        "monotone", "by feature, such as monotone={'bm25': 1}"
    ),
    "layer node hidden_layer_sizes hidden_size": OtherName("hidden", "units by layer, such as hidden=(10,)"),
    "norm normalize": OtherName("scaling"),
    (
        "boosting_type boosting booster tree_method device device_type importance_type bootstrap_type "
        "score_function boost_from_average"
    ): Otherwise(f"there is no choice of it here; {NOT_NEEDED}"),
    "num_class class_weight scale_pos_weight is_unbalance": Otherwise(f"ranking has no use for it; {NOT_NEEDED}"),
    "verbose verbosity verbose_eval silent logging_level metric_period": Otherwise(
        "training prints nothing; write fit(..., on_round=print) to see each round"
    ),
    "callbacks callback": Argument("on_round=function", "which is called with each round"),
    "eval_set eval_sets eval_X eval_y evals valid_sets eval_data X_val validation_data validate": Argument(
        "validation=(X, y, qid)", "or validation=data with RankingData"
    ),
    "eval_group eval_qid eval_query": Argument(
        "validation=(X, y, qid)", "where qid has the query id of each validation document"
    ),
    "group group_sizes query_sizes": Argument(
        "qid=np.repeat(np.arange(len(group)), group)", "since group has the size of each query"
    ),
    "group_id group_ids query_id query_ids qids groups session_id": Argument("qid=...", "one id per document"),
    "init_model xgb_model warm_start": Argument("start=model", "the model to improve on"),
    "init_score base_margin baseline": Argument("start=scores", "the scores to improve on"),
    "eval_init_score base_margin_eval_set": Argument(
        "validation_start=scores", "the scores of the validation documents"
    ),
    "weight weights sample_weights document_weight": Argument("sample_weight=...", "one weight per document"),
    "group_weight group_weights query_weights": Argument("query_weight=...", "one weight per query"),
    "eval_sample_weight sample_weight_eval_set": Otherwise(
        "validation documents all count the same; leave it out"
    ),
    "feature_name feature_names": Otherwise("names belong to the data: RankingData(X, y, qid, feature_names=...)"),
    "num_iteration start_iteration iteration_range ntree_limit ntree_end tree_limit": Otherwise(
        "the model of the first n rounds is ranker.model_.first(n), which has its own predict"
    ),
    "raw_score output_margin prediction_type": Otherwise(f"predict always returns the score itself; {NOT_NEEDED}"),
    "pred_contrib pred_contribs shap_values": Otherwise(
        "contributions of features are ranker.model_.contributions(X)"
    ),
}

FAMILIAR = {name.lower(): entry for names, entry in TABLE.items() for name in names.split()}
"""What each name of another library is here, by its lower-case name."""


def familiar_name(name: str, kind: str, declared: Container[str]) -> str | None:
    """Return what another library's name is here, as the end of a sentence; None if no library uses it."""
    entry = FAMILIAR.get(name.lstrip("-").lower())
    return None if entry is None else entry.hint(kind, declared)


def refuse_arguments(
    kind: str, method: str, unknown: Iterable[str], *, known: Iterable[str], declared: Container[str]
) -> None:
    """Refuse keyword arguments that a method does not have; say where they belong."""
    for name in unknown:
        if name in declared:
            hint = f": it is a parameter of the ranker, as in {kind}({name}=...)."
        elif (familiar := familiar_name(name, kind, declared)) is not None:
            hint = f": {familiar}."
        else:
            hint = nearest(name, known)
        raise InputError(f"{method} has no argument {name!r}{hint}")
