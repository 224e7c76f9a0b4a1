"""Names of other libraries: each is refused with what it is called here."""

import inspect

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.rankers.catalogue import known_rankers, make_ranker
from rankwright.rankers.parameters.aliases import FAMILIAR, Argument, OtherName

X = np.arange(12.0).reshape(6, 2)
y = [0, 1, 2, 0, 1, 2]
qid = [1, 1, 1, 2, 2, 2]

PARAMETERS = [
    ("n_estimators", "it is called rounds here."),
    ("num_boost_round", "it is called rounds here."),
    ("iterations", "it is called rounds here."),
    ("num_leaves", "it is called max_leaves here."),
    (
        "max_depth",
        "it is called max_leaves here; trees grow best leaf first, and a tree of depth d has at most 2**d",
    ),
    ("depth", "it is called max_leaves here; trees grow best leaf first"),
    ("eta", "it is called learning_rate here."),
    ("reg_lambda", "it is called l2 here."),
    ("l2_leaf_reg", "it is called l2 here."),
    ("min_child_samples", "it is called min_documents here."),
    ("colsample_bytree", "it is called feature_fraction here; the fraction is drawn anew for each tree."),
    ("rsm", "it is called feature_fraction here"),
    ("subsample_freq", "the subsample is drawn anew in every round; leave it out"),
    ("seed", "it is called random_state here."),
    ("random_seed", "it is called random_state here."),
    ("nthread", "it is called n_jobs here."),
    ("thread_count", "it is called n_jobs here."),
    ("n_threads", "it is called n_jobs here."),
    ("early_stopping_rounds", "it is called patience here; a number of rounds; fit(..., validation=...) gives"),
    ("eval_metric", "it is called metric here; such as metric='ndcg@10'"),
    ("ndcg_eval_at", "it is called metric here"),
    ("objective", "the ranker is the objective: LambdaMART(metric='ndcg@10') for lambdarank"),
    ("lambdarank_truncation_level", "it is called truncation here; the number of top ranks"),
    ("monotone_constraints", "it is called monotone here; by feature, such as monotone={'bm25': 1}."),
    ("verbose", "training prints nothing; write fit(..., on_round=print) to see each round."),
    ("callbacks", "write fit(..., on_round=function), which is called with each round."),
    ("eval_set", "write fit(..., validation=(X, y, qid)), or validation=data with RankingData."),
    (
        "eval_group",
        "write fit(..., validation=(X, y, qid)), where qid has the query id of each validation document.",
    ),
    (
        "group",
        "write fit(..., qid=np.repeat(np.arange(len(group)), group)), since group has the size of each query.",
    ),
    ("init_score", "write fit(..., start=scores), the scores to improve on."),
    ("-tree", "it is called rounds here."),
    ("-leaf", "it is called max_leaves here."),
    ("-shrinkage", "it is called learning_rate here."),
    ("-tc", "it is called max_bins here."),
    ("-mls", "it is called min_documents here."),
    ("-estop", "it is called patience here"),
    ("-metric2t", "it is called metric here"),
    ("NUM_LEAVES", "it is called max_leaves here."),
]


@pytest.mark.parametrize(("name", "words"), PARAMETERS)
def test_a_parameter_of_another_library_is_refused_with_its_name_here(name, words):
    for mistake in (
        lambda: rw.LambdaMART(**{name: 3}),
        lambda: rw.LambdaMART().set_params(**{name: 3}),
        lambda: make_ranker("lambdamart", **{name: "3"}),
    ):
        with pytest.raises(InputError) as error:
            mistake()
        assert str(error.value).startswith(f"LambdaMART has no parameter {name!r}: {words}")


def test_a_ranker_without_such_a_parameter_says_so():
    with pytest.raises(InputError) as error:
        rw.RankSVM(num_leaves=31)
    assert str(error.value) == (
        "RankSVM has no parameter 'num_leaves': other rankers have max_leaves, but RankSVM has nothing like it."
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "group",
            "write fit(..., qid=np.repeat(np.arange(len(group)), group)), since group has the size of each query.",
        ),
        ("eval_set", "write fit(..., validation=(X, y, qid)), or validation=data with RankingData."),
        ("early_stopping_rounds", "it is called patience here; a number of rounds"),
        ("rounds", "it is a parameter of the ranker, as in LambdaMART(rounds=...)."),
    ],
)
@pytest.mark.parametrize("method", ["fit", "predict", "rank", "score"])
def test_an_argument_of_another_library_is_refused(method, name, sentence):
    ranker = rw.LambdaMART(rounds=1, n_jobs=1).fit(X, y, qid)
    given = (X, qid) if method in ("predict", "rank") else (X, y, qid)
    with pytest.raises(InputError) as error:
        getattr(ranker, method)(*given, **{name: [3, 3]})
    assert str(error.value).startswith(f"{method} has no argument {name!r}: {sentence}")


def test_a_misspelt_argument_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"fit has no argument 'sample_wieght'; did you mean 'sample_weight'\?"):
        rw.LambdaMART().fit(X, y, qid, sample_wieght=[1] * 6)


def test_sizes_of_queries_are_not_taken_for_query_ids():
    for sizes in ([3, 3], np.array([2, 4]), (6,)):
        with pytest.raises(InputError, match=r"look like the sizes of queries: write qid=np.repeat\("):
            rw.LambdaMART().fit(X, y, sizes)
    with pytest.raises(InputError, match="There are 6 documents but 2 query ids"):
        rw.LambdaMART().fit(X, y, [1, 2])


def test_every_entry_of_the_table_leads_somewhere():
    parameters = {name for kind in known_rankers().values() for name in kind.declared}
    arguments = set(inspect.signature(rw.LambdaMART.fit).parameters)
    for name, entry in FAMILIAR.items():
        if isinstance(entry, OtherName):
            assert entry.ours in parameters, name
        if isinstance(entry, Argument):
            assert entry.example.partition("=")[0] in arguments, name
    assert not set(FAMILIAR) & parameters
