import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.base.errors import InputError
from rankwright.data import synthetic
from rankwright.data.groups import Ranking
from rankwright.data.synthetic import RandomPolynomial


@pytest.fixture(scope="module")
def function():
    return RandomPolynomial.draw(7)


def slow_values(function, X):
    """Sum the monomials one by one."""
    values = np.zeros(len(X))
    for factors, coefficient in zip(function.factors, function.coefficients, strict=True):
        values += coefficient * X[:, factors[factors >= 0]].astype(np.float64).prod(axis=1)
    return values


@given(st.integers(0, 9), st.integers(1, 4), st.sampled_from([None, 1, 12]))
def test_values_are_the_sum_of_the_monomials(seed, degree, n_terms):
    function = RandomPolynomial.draw(seed, n_features=6, n_active=4, degree=degree, n_terms=n_terms)
    X = np.random.default_rng(seed).uniform(-1, 1, (50, 6)).astype(np.float32)
    np.testing.assert_allclose(function.values(X), slow_values(function, X), rtol=1e-10, atol=1e-10)


def test_cubic_function_is_the_mean_of_three_terms_of_variance_one():
    function = RandomPolynomial.cubic(5, n_features=12)
    X = np.random.default_rng(1).uniform(-1, 1, (50_000, 12)).astype(np.float32)
    np.testing.assert_allclose(function.values(X[:50]), slow_values(function, X[:50]), rtol=1e-10, atol=1e-10)
    terms = np.split(np.arange(36), 3)
    for degree, rows in enumerate(terms, start=1):
        factors = function.factors[rows]
        assert ((factors >= 0).sum(axis=1) == degree).all()
        assert all(sorted(column) == list(range(12)) for column in factors[:, :degree].T)  # permutations
        term = RandomPolynomial(12, factors, 3 * function.coefficients[rows], (), np.zeros(0))
        assert term.values(X).std() == pytest.approx(1.0, abs=0.03)
    shares = np.bincount(function.sample(400, seed=1).y.astype(int)) / 20_000
    np.testing.assert_allclose(shares, synthetic.WEB_LABEL_SHARES, atol=0.02)


@pytest.mark.slow
def test_sparse_function_looks_at_its_active_features_only():
    function = RandomPolynomial.draw(3)
    assert function.factors.shape == (20, 3)
    assert len(set(function.factors[function.factors >= 0])) <= 10
    assert (function.factors[:, 0] >= 0).all()  # no monomial is a constant


def test_dense_function_holds_every_monomial_once():
    function = RandomPolynomial.draw(3, n_features=5, n_terms=None, n_active=None)
    monomials = {tuple(sorted(factors)) for factors in function.factors.tolist()}
    assert len(monomials) == len(function.factors) == 5 + 15 + 35


@pytest.mark.slow
@pytest.mark.parametrize("n_terms", [20, None])
def test_labels_have_their_shares_in_every_sample(n_terms):
    function = RandomPolynomial.draw(7, n_features=10, n_terms=n_terms)
    for seed in (1, 2):
        sample = function.sample(1000, seed=seed)
        shares = np.bincount(sample.y.astype(int)) / len(sample)
        np.testing.assert_allclose(shares, synthetic.WEB_LABEL_SHARES, atol=0.01)


def test_labels_rise_with_the_value(function):
    sample = function.sample(20, seed=1)
    best_first = np.argsort(-function.values(sample.X))
    assert (np.diff(sample.y[best_first]) <= 0).all()


def test_thresholds_per_query_give_every_query_the_same_labels(function):
    sample = function.sample(20, seed=1, n_documents=100, thresholds_per_query=True)
    order = Ranking.of(function.values(sample.X), sample.groups).order
    expected = np.repeat([4, 3, 2, 1, 0], [3, 7, 15, 25, 50])
    np.testing.assert_array_equal(sample.y[order].reshape(20, 100), np.tile(expected, (20, 1)))


def test_noise_replaces_labels_and_keeps_the_documents(function):
    clean, noisy = (function.sample(400, seed=1, noise=noise) for noise in (0.0, 0.5))
    np.testing.assert_array_equal(clean.X, noisy.X)
    # A replaced label is often the old one: the share that differs is noise x (1 - sum of squared shares).
    expected = 0.5 * (1 - np.square(synthetic.WEB_LABEL_SHARES).sum())
    assert (clean.y != noisy.y).mean() == pytest.approx(expected, abs=0.02)


@pytest.mark.slow
def test_a_seed_decides_everything():
    first, again, other = (synthetic.polynomial_queries(20, seed=seed) for seed in (1, 1, 2))
    assert first.X.tobytes() == again.X.tobytes()
    assert first.y.tobytes() == again.y.tobytes()
    assert first.X.tobytes() != other.X.tobytes()


def test_polynomial_queries_are_a_sample_of_the_function():
    data = synthetic.polynomial_queries(20, seed=5, n_documents=9, n_features=12, noise=0.1)
    same = RandomPolynomial.draw(5, n_features=12).sample(20, seed=5, n_documents=9, noise=0.1)
    assert repr(data) == "RankingData(180 documents, 20 queries, 12 features)"
    assert data.X.tobytes() == same.X.tobytes()
    assert data.y.tobytes() == same.y.tobytes()


@pytest.mark.slow
def test_a_shift_moves_away_by_degrees(function):
    X = function.sample(100, seed=1).X
    agreement = [
        np.corrcoef(function.values(X), function.shifted(amount, seed=3).values(X))[0, 1]
        for amount in (0.0, 0.3, 0.8)
    ]
    assert agreement[0] == pytest.approx(1.0)
    assert agreement[0] > agreement[1] > agreement[2]


@pytest.mark.slow
def test_a_shifted_function_has_the_same_label_shares(function):
    sample = function.shifted(0.5, seed=3).sample(1000, seed=1)
    shares = np.bincount(sample.y.astype(int)) / len(sample)
    np.testing.assert_allclose(shares, synthetic.WEB_LABEL_SHARES, atol=0.01)


@pytest.mark.parametrize("spread", [(0.2, 0.2), (0.2, 1.3)])
def test_gaussian_queries_have_the_papers_centres_and_variances(spread):
    data = synthetic.gaussian_queries(2000, spread=spread, seed=1)
    for label, centre in ((1, 1.0), (0, -1.0)):
        documents = data.X[data.y == label]
        np.testing.assert_allclose(documents.mean(axis=0), centre, atol=0.05)
        np.testing.assert_allclose(np.cov(documents.T), np.diag(spread), atol=0.05)


def test_a_gaussian_query_has_seven_relevant_of_21():
    data = synthetic.gaussian_queries(3)
    assert data.groups.sizes.tolist() == [21, 21, 21]
    assert [data.y[rows].sum() for rows in data.groups] == [7, 7, 7]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: synthetic.polynomial_queries(0), "n_queries must be a positive integer, not 0."),
        (lambda: synthetic.polynomial_queries(1, n_terms=0), "n_terms must be a positive integer, not 0."),
        (lambda: synthetic.polynomial_queries(1, n_features=5), "n_active is 10, but there are only 5 features"),
        (lambda: synthetic.polynomial_queries(1, noise=1.5), "noise must lie between 0 and 1, not 1.5."),
        (
            lambda: synthetic.polynomial_queries(1, label_shares=(0.5, 0.4)),
            "label_shares must be two or more",
        ),
        (lambda: RandomPolynomial.draw(1).shifted(2.0, seed=1), "amount must lie between 0 and 1, not 2.0."),
        (lambda: synthetic.gaussian_queries(spread=(-1.0, 1.0)), "spread must be two variances"),
        (lambda: synthetic.gaussian_queries(n_relevant=0), "n_relevant must be a positive integer"),
    ],
)
def test_impossible_data_are_refused(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
