"""Lambdas of clicks, pair by pair: inverse propensity weights, and the bias of unbiased LambdaMART."""

from math import exp, log, log2

LEAST = 0.05


def click_lambdas(clicks, lists, scores, ranks, above, below):
    """Return gradient, hessian and the losses of pairs (i, j), |delta NDCG| without a cut-off, not normalised.

    `above` and `below` are the weights of clicked and unclicked documents.
    """
    gradient, hessian, losses = [0.0] * len(clicks), [0.0] * len(clicks), {}
    for i, j in pairs(clicks, lists):
        ideal = sum(1 / log2(1 + rank) for rank in range(1, 1 + int(sum(clicks[k] for k in same_list(lists, i)))))
        delta = abs(1 / log2(1 + ranks[i]) - 1 / log2(1 + ranks[j])) / ideal
        rho = 1 / (1 + exp(scores[i] - scores[j]))
        weight = above[i] * below[j] * delta
        gradient[i] += weight * rho
        gradient[j] -= weight * rho
        hessian[i] += weight * rho * (1 - rho)
        hessian[j] += weight * rho * (1 - rho)
        losses[i, j] = delta * log(1 + exp(scores[j] - scores[i]))
    return gradient, hessian, losses


def position_bias(losses, position, clicked_bias, unclicked_bias):
    """Return t+ and t- by position, from the losses of pairs and the bias before."""
    last = max(position)
    clicked, unclicked = [0.0] * (last + 1), [0.0] * (last + 1)
    for (i, j), loss in losses.items():
        clicked[position[i]] += loss / unclicked_bias[position[j]]
        unclicked[position[j]] += loss / clicked_bias[position[i]]
    return [
        [max(value / sums[1], LEAST) for value in sums] if sums[1] > 0 else [1.0] * (last + 1)
        for sums in (clicked, unclicked)
    ]


def pairs(clicks, lists):
    """Yield the pairs of a clicked and an unclicked document of one list."""
    for i in range(len(clicks)):
        for j in same_list(lists, i):
            if clicks[i] and not clicks[j]:
                yield i, j


def same_list(lists, row):
    """Return the rows of the same list."""
    return [other for other in range(len(lists)) if lists[other] == lists[row]]
