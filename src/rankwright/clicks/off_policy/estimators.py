"""Estimators of importance sampling: rewards of one policy, weighted to be those of another.

w is the probability of what was shown under the new policy, divided by that under the policy of the log.

- IPS is the mean of w r (Horvitz & Thompson 1952), unbiased if the log could show whatever the new one does.
- Clipped IPS bounds w, by default by the root of the number of lists (Ionides 2008): less variance, a little bias.
- Self-normalised IPS divides by the mean of w, which is 1 in expectation (Swaminathan & Joachims 2015).
- The doubly robust estimator weights only the errors of a prediction of r (Dudik, Langford & Li 2011).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.arrays import checked_numbers
from rankwright.base.errors import InputError, parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Integers

IPS, CLIPPED, SELF_NORMALISED, DIRECT, DOUBLY_ROBUST = (
    "ips",
    "clipped",
    "self_normalised",
    "direct",
    "doubly_robust",
)


@dataclass(frozen=True)
class OffPolicyEstimate:
    """An estimate of the mean reward per result list, with its confidence interval.

    Parameters
    ----------
    value, low, high
        The estimate, and the limits of its interval; NaN for limits that cannot be computed, as those of `direct`.
    effective
        Effective number of impressions, (sum of w)^2 / sum of w^2 (Kish 1965): as many with equal weights would
        tell as much.
    largest
        The largest weight.

    Examples
    --------
    >>> estimate = rw.clicks.importance_estimates([0, 1, 1, 0], [2.0, 0.5, 1.0, 0.5])["ips"]
    >>> isinstance(estimate, rw.clicks.OffPolicyEstimate), estimate.value, round(estimate.effective, 1)
    (True, 0.375, 2.9)
    """

    value: float
    low: float
    high: float
    effective: float
    largest: float

    def widened(self, reach: float) -> OffPolicyEstimate:
        """Return the estimate with an interval that also allows for an independent error with this reach."""
        low, high = (float(np.hypot(limit - self.value, reach)) for limit in (self.low, self.high))
        return replace(self, low=min(self.value, max(0.0, self.value - low)), high=self.value + high)


@dataclass(frozen=True, eq=False)
class WeightedRewards:
    """Impressions with rewards and weights, in lists, and lists in sessions.

    Parameters
    ----------
    rewards, weights
        One per impression.
    list_of_impression, session_of_list
        The list of each impression, and the session of each list, numbered from 0.
    control
        A number per impression whose weighted sum is `total` in expectation: 1 for every position that is shown.
    total
        Sum over lists of what `control` sums to.
    predicted
        Predicted reward of each impression, for the doubly robust estimator; None without a prediction.
    expected
        Predicted reward of each list under the new policy.
    """

    rewards: Doubles
    weights: Doubles
    list_of_impression: Integers
    session_of_list: Integers
    control: Doubles
    total: float
    predicted: Doubles | None = None
    expected: Doubles | None = None

    def by_list(self, values: Doubles) -> Doubles:
        """Return the sums of values, one per impression, over the impressions of each list."""
        return np.bincount(self.list_of_impression, values, minlength=len(self.session_of_list)).astype(np.float64)

    def estimates(self, *, clip: float | None = None, level: float = 0.95) -> dict[str, OffPolicyEstimate]:
        """Return the estimates by name; the last two only with a prediction."""
        limit = float(np.sqrt(len(self.session_of_list))) if clip is None else clip
        clipped = np.minimum(self.weights, limit)
        normaliser = float(self.weights @ self.control) / self.total
        scale = 1.0 / normaliser if normaliser > 0 else np.nan
        rewards = self.by_list(self.weights * self.rewards)
        estimates = {
            IPS: self._estimate(rewards, self.weights, level),
            CLIPPED: self._estimate(self.by_list(clipped * self.rewards), clipped, level),
            SELF_NORMALISED: self._self_normalised(rewards, scale, level),
        }
        if self.predicted is not None and self.expected is not None:
            used = self.weights if clip is None else clipped
            corrected = self.expected + self.by_list(used * (self.rewards - self.predicted))
            direct = float(self.expected.mean())  # its error is that of the prediction, which lists do not tell
            estimates[DIRECT] = OffPolicyEstimate(direct, np.nan, np.nan, np.nan, np.nan)
            estimates[DOUBLY_ROBUST] = self._estimate(corrected, used, level)
        return estimates

    def _self_normalised(self, rewards: Doubles, scale: float, level: float) -> OffPolicyEstimate:
        """Return the ratio; its variance is that of rewards minus the ratio times the control."""
        n_lists = len(rewards)
        value = float(rewards.sum()) / n_lists * scale
        per_control = value * n_lists / self.total
        residuals = scale * (rewards - per_control * self.by_list(self.weights * self.control))
        low, high = self._interval(value, residuals, scale * self.weights, level)
        return OffPolicyEstimate(
            value, low, high, effective_size(self.weights), float(self.weights.max(initial=0.0))
        )

    def _estimate(self, of_lists: Doubles, weights: Doubles, level: float) -> OffPolicyEstimate:
        """Return the mean over lists."""
        value = float(of_lists.mean())
        low, high = self._interval(value, of_lists - value, weights, level)
        return OffPolicyEstimate(value, low, high, effective_size(weights), float(weights.max(initial=0.0)))

    def _interval(self, value: float, residuals: Doubles, weights: Doubles, level: float) -> tuple[float, float]:
        """Return an interval that no list can exceed, with the largest reward at every position."""
        n_lists, largest = len(residuals), float(self.rewards.max(initial=0.0)) or 1.0
        step = float(weights.max(initial=0.0)) * largest / n_lists
        low, high = skewed_interval(value, self._variance(residuals), step, level)
        return low, min(high, max(value, largest * self.total / n_lists))

    def _variance(self, residuals: Doubles) -> float:
        """Return the variance of a mean over lists; the lists of one session count as one observation."""
        sums = np.bincount(self.session_of_list, residuals)
        n_sessions = len(np.unique(self.session_of_list))
        correction = n_sessions / (n_sessions - 1) if n_sessions > 1 else np.nan
        return float((sums**2).sum()) * correction / len(residuals) ** 2


def importance_estimates(
    rewards: ArrayLike,
    weights: ArrayLike,
    *,
    predicted: ArrayLike | None = None,
    expected: ArrayLike | None = None,
    clip: float | None = None,
    level: float = 0.95,
) -> dict[str, OffPolicyEstimate]:
    """Estimate the mean reward of a policy from rewards that another one received, by importance sampling.

    This is for logs of single decisions; `off_policy` computes the weights of ranked lists itself.

    Parameters
    ----------
    rewards
        What each decision brought, not negative.
    weights
        The probability of each decision under the new policy, divided by that under the policy that was followed.
    predicted, expected
        For `doubly_robust`: the predicted reward of each decision, and its mean under the new policy in the same
        situation.
    clip
        Largest weight of `clipped`; by default the root of the number of decisions. If it is given,
        `doubly_robust` clips too.
    level
        Level of the intervals.

    Examples
    --------
    >>> estimates = rw.clicks.importance_estimates([0, 1, 1, 0], [2.0, 0.5, 1.0, 0.5])
    >>> {name: estimate.value for name, estimate in estimates.items()}
    {'ips': 0.375, 'clipped': 0.375, 'self_normalised': 0.375}
    """
    r, w = checked_rewards(rewards), _checked("weights", weights)
    given = {"weights": w}
    if (predicted is None) != (expected is None):
        raise InputError(f"{parameter('predicted')} and {parameter('expected')} belong together.")
    if predicted is not None and expected is not None:
        given |= {"predicted": _checked("predicted", predicted), "expected": _checked("expected", expected)}
    for name, values in given.items():
        if len(values) != len(r):
            raise InputError(f"There are {len(r):,} rewards but {len(values):,} {name}.")
    if (w < 0).any():
        raise InputError(f"Weight {int((w < 0).argmax())} is negative.")
    checked_clip(clip)
    each, ones = np.arange(len(r)), np.ones(len(r))
    sample = WeightedRewards(r, w, each, each, ones, float(len(r)), given.get("predicted"), given.get("expected"))
    return sample.estimates(clip=clip, level=level)


def checked_rewards(rewards: ArrayLike) -> Doubles:
    """Return rewards; refuse negative ones, for which the intervals are not."""
    values = _checked("rewards", rewards)
    if len(values) == 0:
        raise InputError("There are no rewards.")
    if (values < 0).any():
        raise InputError(f"Reward {int((values < 0).argmax())} is negative.")
    return values


def checked_clip(clip: float | None) -> None:
    """Refuse a limit of weights that is not positive."""
    if clip is not None and not clip > 0:
        raise InputError(f"{parameter('clip')} must be a positive number, not {clip}.")


def _checked(name: str, values: ArrayLike) -> Doubles:
    numbers = checked_numbers(values, name)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InputError(f"{parameter(name)} must be a list of finite numbers.")
    return numbers


def effective_size(weights: Doubles) -> float:
    """Return the effective number of impressions."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def skewed_interval(value: float, variance: float, step: float, level: float) -> tuple[float, float]:
    """Return an interval for a mean of few rewards with unequal weights, not negative unless the mean is.

    The lower limit is the normal one. The upper one is that of a gamma distribution and allows for one more reward
    at the largest weight, which would move the mean by `step` (Fay & Feuer 1997): rare rewards with large weights,
    of which a log may have none, make the normal limit far too low. With many rewards it is the normal limit.
    """
    from scipy.stats import gamma

    if np.isnan(variance):
        return np.nan, np.nan
    low, high = normal_interval(value, variance, level)
    mean, wide = value + step, variance + step**2
    if mean > 0 and wide > 0:
        high = max(high, float(gamma.isf((1.0 - level) / 2.0, mean**2 / wide, scale=wide / mean)))
    return min(value, max(0.0, low)), high


def normal_interval(value: float, variance: float, level: float) -> tuple[float, float]:
    """Return the normal interval of a mean."""
    reach = normal_quantile(level) * float(np.sqrt(variance))
    return value - reach, value + reach


def normal_quantile(level: float) -> float:
    """Return how many standard deviations from the mean the limits of a normal interval are."""
    from scipy.special import ndtri

    return float(ndtri((1.0 + level) / 2.0))
