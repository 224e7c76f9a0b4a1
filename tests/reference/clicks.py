"""Click models, literally: one impression, list or pattern of clicks at a time."""

from collections import Counter
from itertools import product
from math import exp, log, prod


def counted_cells(click_log):
    """Return (shown, clicked, read, ended) by (query, document, position, last click), from lists one by one."""
    cells = {}
    for begin, end in zip(click_log.offsets[:-1], click_log.offsets[1:], strict=True):
        rows = range(begin, end)
        clicks = [int(click_log.position[row]) for row in rows if click_log.clicked[row] > 0]
        last = 0
        for row in rows:
            position, clicked = int(click_log.position[row]), click_log.clicked[row] > 0
            names = click_log.query_ids[click_log.query[row]], click_log.document_ids[click_log.document[row]]
            sums = cells.setdefault((*map(str, names), position, last), [0, 0, 0, 0])
            sums[0] += 1
            sums[1] += int(clicked)
            sums[2] += int(not clicks or position <= max(clicks))
            sums[3] += int(clicked and position == max(clicks))
            last = position if clicked else last
    return {key: tuple(sums) for key, sums in cells.items()}


def examination_step(cells, strata, nodes, prior, examination, trust):
    """Return objective, prior, examination, trust and posterior means of one step of EM; cells are by pair."""
    objective, examined, trusted, shown, clicked, means = 0.0, Counter(), Counter(), Counter(), Counter(), []
    weights = [[0.0] * len(nodes) for _ in prior]
    perceived = [[a + (1 - a) * t for a in nodes] for t in trust]
    for of_pair, stratum in zip(cells, strata, strict=True):
        joint = [
            log(share)
            + sum(
                c * log(examination[k] * perceived[k][node])
                + (n - c) * log(1 - examination[k] * perceived[k][node])
                for k, n, c in of_pair
            )
            for node, share in enumerate(prior[stratum])
        ]
        best = max(joint)
        total = sum(exp(value - best) for value in joint)
        posterior = [exp(value - best) / total for value in joint]
        objective += best + log(total)
        means.append(sum(a * weight for a, weight in zip(nodes, posterior, strict=True)))
        for node, (a, weight) in enumerate(zip(nodes, posterior, strict=True)):
            weights[stratum][node] += weight
            for k, n, c in of_pair:
                b = perceived[k][node]
                examined[k] += weight * (n - c) * examination[k] * (1 - b) / (1 - examination[k] * b)
                trusted[k] += weight * c * (1 - a) * trust[k] / b
        for k, n, c in of_pair:
            shown[k] += n
            clicked[k] += c
    new = [examination[0]] + [
        (clicked[k] + examined[k]) / shown[k] if shown[k] else examination[k] for k in range(1, len(examination))
    ]
    new_trust = [trusted[k] / (trusted[k] + examined[k]) if trusted[k] else trust[k] for k in range(len(trust))]
    sizes = Counter(strata)
    new_prior = [
        [weight / sizes[stratum] for weight in of_stratum] if sizes[stratum] else prior[stratum]
        for stratum, of_stratum in enumerate(weights)
    ]
    return objective, new_prior, new, new_trust, means


def reading_pattern(clicks, attraction, going_on):
    """Return the probability of a pattern of clicks of a user who reads from the top, over all ends of reading."""
    total = 0.0
    for end in range(1, len(clicks) + 1):  # the user reads so many documents
        if any(clicks[end:]):
            continue
        read = prod(a if click else 1 - a for click, a in zip(clicks[:end], attraction, strict=False))
        went_on = prod(going_on[row] if clicks[row] else 1.0 for row in range(end - 1))
        stopped = 1.0 if end == len(clicks) else (1 - going_on[end - 1] if clicks[end - 1] else 0.0)
        total += read * went_on * stopped
    return total


def browsing_pattern(clicks, attraction, examination):
    """Return the probability of a pattern of clicks; examination is by position and last click."""
    chance, last = 1.0, 0
    for position, (click, a) in enumerate(zip(clicks, attraction, strict=True), start=1):
        clicked = examination[position, last] * a
        chance *= clicked if click else 1 - clicked
        last = position if click else last
    return chance


def click_chances(pattern, size, given):
    """Return P(click at each rank), and the same given the clicks above, as sums over all patterns of clicks."""
    patterns = {clicks: pattern(clicks) for clicks in product((0, 1), repeat=size)}
    marginal = [sum(chance for clicks, chance in patterns.items() if clicks[rank]) for rank in range(size)]
    conditional = []
    for rank in range(size):
        like = {clicks: chance for clicks, chance in patterns.items() if clicks[:rank] == given[:rank]}
        total = sum(like.values())
        clicked = sum(chance for clicks, chance in like.items() if clicks[rank])
        conditional.append(clicked / total if total else 0.0)
    return marginal, conditional


def reading_posteriors(clicks, attraction, satisfaction, continuation):
    """Return P(read) and P(satisfied) of each row given all clicks, and the log-likelihood, over all ends."""
    size, ways = len(clicks), []
    for end in range(1, size + 1):
        if any(clicks[end:]):
            continue
        chance = prod(a if click else 1 - a for click, a in zip(clicks[:end], attraction, strict=False))
        chance *= prod(((1 - satisfaction[row]) if clicks[row] else 1) * continuation for row in range(end - 1))
        last = satisfaction[end - 1] if clicks[end - 1] else 0.0
        ways.append((end, True, chance * last))
        ways.append((end, False, chance * (1 - last) * (1 if end == size else 1 - continuation)))
    total = sum(chance for _, _, chance in ways)
    read = [sum(chance for end, _, chance in ways if end > row) / total for row in range(size)]
    satisfied = [sum(chance for end, by, chance in ways if by and end == row + 1) / total for row in range(size)]
    return read, satisfied, log(total)
