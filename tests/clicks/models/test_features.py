import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.models.features import (
    BrowsingFeatures,
    PositionFeatures,
    TrustFeatures,
    rows_of_pairs,
)

DATA = rw.synthetic.polynomial_queries(200, n_documents=10, n_features=8, n_active=5, seed=3)


def fitted(kind, behaviour, data=DATA, n_jobs=1, with_errors=False, **options):
    log = rw.clicks.simulate(data, DATA.X[:, 0], behaviour, sessions=30, **options)
    return kind.fit_features(ClickCounts.of(log), data, with_errors=with_errors, n_jobs=n_jobs)


@pytest.mark.slow
def test_one_ranker_tells_examination_where_features_say_what_attracts():
    model = fitted(PositionFeatures, "position", with_errors=True)
    assert model.is_identified
    assert model.is_biased
    truth = 1.0 / model.position
    assert np.abs(np.log(model.examination / truth))[:5].max() < 0.25
    assert (model.errors[1:5] > 0.0).all()
    assert (np.abs(model.examination - truth)[1:5] < 4 * model.errors[1:5]).all()
    plain = rw.clicks.fit_click_model(rw.clicks.simulate(DATA, DATA.X[:, 0], sessions=30), "position")
    assert np.isnan(plain.errors[1:]).all()  # which without features cannot know


def test_without_position_bias_none_is_found():
    model = fitted(PositionFeatures, "none")
    assert not model.is_biased
    assert model.examination.min() > 0.8
    assert not model.notes


def test_trust_is_found_at_high_positions():
    model = fitted(TrustFeatures, "trust", trust=0.6)
    assert 0.45 < model.trust[0] < 0.75
    assert model.trust[0] > model.trust[1] > model.trust[3]
    assert fitted(PositionFeatures, "trust", trust=0.6).trust.max() == 0.0


def test_browsing_depends_on_the_last_click():
    model = fitted(BrowsingFeatures, "cascade")
    after = model.last > 0
    assert model.examination[after].max() < 0.05 < 0.5 < model.examination[~after][:5].min()


def test_features_that_are_the_position_identify_nothing():
    position = np.empty(len(DATA))
    for begin, end in zip(DATA.groups.offsets[:-1], DATA.groups.offsets[1:], strict=True):
        position[begin:end] = np.argsort(np.argsort(-DATA.X[begin:end, 0]))
    data = rw.RankingData(position[:, None], DATA.y, DATA.qid)  # its only feature is the position
    model = fitted(PositionFeatures, "position", data)
    assert not model.is_identified
    assert "Features do not tell position from relevance" in model.notes[-1]
    log = rw.clicks.simulate(data, DATA.X[:, 0], sessions=30)
    with pytest.raises(InputError, match="Features do not tell position from relevance"):
        rw.clicks.propensities(log, "features", data=data)


def test_threads_do_not_matter():
    one, two = (fitted(TrustFeatures, "position", n_jobs=threads) for threads in (1, 2))
    assert one.examination.tobytes() == two.examination.tobytes()
    assert one.attraction.values.tobytes() == two.attraction.values.tobytes()


def test_pairs_find_their_documents():
    data = rw.Documents([[0.1], [0.7], [0.4]], [7, 7, 8], document_ids=["a", "b", "a"])
    log = rw.clicks.from_sessions([("7", ["b", "x"], [1, 0]), ("9", ["a"], [1]), ("8", ["a"], [1])])
    counts = ClickCounts.of(log)
    assert rows_of_pairs(counts, data).tolist() == [1, -1, -1, 2]
    model = PositionFeatures.fit_features(counts, data)
    assert any(note.startswith("2 pairs of query and document of 4 are unknown") for note in model.notes)


def test_propensities_by_features_have_trust_and_a_chart():
    log = rw.clicks.simulate(DATA, DATA.X[:, 0], "trust", sessions=30)
    result = rw.clicks.propensities(log, "trust", data=DATA)
    assert result.trust[0] > 0.3
    assert ((result.low <= result.values) & (result.values <= result.high)).all()
    assert "trust" in str(result)
    assert result.chart() is not None
    with pytest.raises(InputError, match="needs data: documents with features"):
        rw.clicks.propensities(log, "features")


def test_a_class_without_a_click_is_not_impossible():
    log = rw.clicks.simulate(DATA, DATA.X[:, 0], "browsing", sessions=2, noise=0.02)
    counts = ClickCounts.of(log)
    model = BrowsingFeatures.fit_features(counts, DATA, with_errors=False, n_jobs=1)
    clicked = np.bincount(model.classes(counts.position, counts.last).of_row, counts.clicked)
    assert (clicked == 0).any()
    assert model.examination[clicked == 0].min() > 1e-4
