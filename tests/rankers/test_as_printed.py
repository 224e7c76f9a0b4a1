"""Every ranker as its paper prints it can be made, changed and fitted."""

import numpy as np
import pytest

from rankwright import CalibratedAdaBoost, LambdaMART, RankingData
from rankwright.base.errors import InputError
from rankwright.cli.options.rankers import make_ranker as from_command_line
from rankwright.metrics import NDCG
from rankwright.rankers.catalogue import known_rankers, make_ranker, read_ranker

PRINTED = [kind for kind in known_rankers().values() if kind.printed]
QUICK = {
    "rounds": 3,
    "rounds_tried": (2, 4),
    "leaves": (3,),
    "terms": (2,),
    "calibrations": ("ewls", "polynomial-2"),
}


def judged(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(200, 3)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + X[:, 1] + random.normal(size=200) / 2 + 0.5), 0, 2)
    y[:10] = 1.0  # a query that no ranking changes
    return RankingData(X, y, np.repeat(np.arange(20), 10))


@pytest.mark.filterwarnings("ignore:.*condition 9")
@pytest.mark.parametrize("kind", PRINTED, ids=lambda kind: kind.name)
def test_it_fits_and_is_another_model_than_the_default(kind):
    few = {name: value for name, value in QUICK.items() if name in kind.declared}
    printed, default = kind.as_printed(**few), kind(**few)
    train = judged(1)
    scores = [one.fit(train, validation=judged(2)).predict(train) for one in (printed, default)]
    assert not np.allclose(*scores)


@pytest.mark.parametrize("kind", PRINTED, ids=lambda kind: kind.name)
def test_every_value_is_valid_and_differs_from_the_default(kind):
    kind.as_printed().check_parameters()
    for name, value in kind.printed.items():
        assert repr(value) != repr(kind.declared[name].default), name


def test_parameters_may_be_changed():
    ranker = LambdaMART.as_printed(metric="ndcg@5", max_leaves=15)
    assert (ranker.metric, ranker.max_leaves, ranker.normalise) == (NDCG(k=5), 15, False)
    with pytest.raises(InputError, match="LambdaMART has no parameter 'leaf'"):
        LambdaMART.as_printed(leaf=3)


def test_the_calibrated_pool_is_that_of_section_7():
    printed = CalibratedAdaBoost.as_printed()
    assert (min(printed.leaves), max(printed.leaves), len(printed.leaves)) == (5, 45, 9)
    assert (min(printed.terms), max(printed.terms)) == (2, 10)
    assert (min(printed.rounds_tried), max(printed.rounds_tried)) == (10, 10_000)
    assert {f"polynomial-{degree}" for degree in (2, 3, 4, 5)} < set(printed.calibrations)
    assert (printed.entropy_power, printed.smoothness) == (2.0, 0.01)


def test_by_name_and_on_the_command_line():
    expected = LambdaMART.as_printed(max_leaves=7).get_params()
    for ranker in (
        make_ranker("lambdamart", as_printed=True, max_leaves=7),
        make_ranker("lambdamart", as_printed="true", max_leaves="7"),
        read_ranker('{"ranker": "lambdamart", "as_printed": true, "max_leaves": 7}'),
        from_command_line("lambdamart", ["max_leaves=7"], None, as_printed=True),
        from_command_line("lambdamart", ["as_printed=true", "max_leaves=7"], None),
    ):
        assert ranker.get_params() == expected
    assert make_ranker("lambdamart", as_printed="false").get_params() == LambdaMART().get_params()
    assert (
        from_command_line("lambdamart", ["as_printed=false"], None, as_printed=True).get_params()
        == LambdaMART().get_params()
    )
    with pytest.raises(InputError, match="as_printed must be True or False, not 'maybe'"):
        make_ranker("lambdamart", as_printed="maybe")
    with pytest.raises(InputError, match="MART has no setting of a paper"):
        make_ranker("mart", as_printed=True)


def test_rankers_without_a_paper_say_so():
    plain = [kind for kind in known_rankers().values() if not kind.printed]
    assert plain
    for kind in plain:
        with pytest.raises(InputError, match=f"^{kind.__name__} has no setting of a paper"):
            kind.as_printed()
