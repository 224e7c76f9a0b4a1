import numpy as np

import rankwright as rw

LOG = rw.clicks.from_sessions([("q", ["a", "b"], [1, 0]), ("q", ["a", "b"], [1, 1]), ("q", ["b", "a"], [0, 0])])


def test_click_rates_by_position():
    model = rw.clicks.fit_click_model(LOG, "position_rates")
    np.testing.assert_allclose(model.rates[1:], [2 / 3, 1 / 3])
    np.testing.assert_allclose(model.conditional(LOG), np.tile([2 / 3, 1 / 3], 3))


def test_click_rates_by_document_are_shrunken():
    model = rw.clicks.fit_click_model(LOG, "document_rates")
    prior = model.attraction.prior
    assert prior.mean == 0.5
    np.testing.assert_allclose(
        model.attraction.values, (np.array([2, 1]) + 0.5 * prior.strength) / (3 + prior.strength)
    )


def test_clicks_over_expected_clicks():
    model = rw.clicks.fit_click_model(LOG, "coec")
    expected = np.array([2 / 3 * 2 + 1 / 3, 1 / 3 * 2 + 2 / 3])
    strength = model.ratio.prior.strength
    np.testing.assert_allclose(model.ratio.values, (np.array([2, 1]) + strength) / (expected + strength))
    assert (model.conditional(LOG) <= 1).all()


def test_a_position_without_a_click_has_half_of_one():
    log = rw.clicks.from_sessions([("q", ["a", "b"], [1, 0])] * 9)
    np.testing.assert_allclose(rw.clicks.fit_click_model(log, "position_rates").rates[1:], [1.0, 0.05])
