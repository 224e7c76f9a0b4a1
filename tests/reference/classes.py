"""Slow twins of the weak classifiers of AdaBoost.MH, in plain Python on whole numbers."""

from dataclasses import dataclass

MISSING = 255


def sign(value):
    return -1 if value < 0 else 1


@dataclass
class Stump:
    edge: int
    left: list
    right: list
    feature: int = 0
    code: int = -1
    missing_left: bool = False

    def votes(self, codes):
        value = codes[self.feature]
        return self.left if (self.missing_left if value == MISSING else value <= self.code) else self.right


def totals(rows, signed):
    return [sum(signed[row][k] for row in rows) for k in range(len(signed[0]))]


def best_stump(codes, n_bins, rows, signed, opposite):
    """Try every split of every feature, missing values right and left."""
    best = None
    for feature, bins in enumerate(n_bins):
        for code in range(bins - 1):
            for missing_left in (False, True):
                stump = Stump(0, [], [], feature, code, missing_left)
                side = [
                    row
                    for row in rows
                    if (missing_left if codes[row][feature] == MISSING else codes[row][feature] <= code)
                ]
                left = totals(side, signed)
                right = [whole - part for whole, part in zip(totals(rows, signed), left, strict=True)]
                if opposite:
                    stump.left = [sign(a - b) for a, b in zip(left, right, strict=True)]
                    stump.right = [-vote for vote in stump.left]
                else:
                    stump.left, stump.right = list(map(sign, left)), list(map(sign, right))
                stump.edge = sum(a * b for a, b in zip(left + right, stump.left + stump.right, strict=True))
                if best is None or stump.edge > best.edge:
                    best = stump
    return best


def grow_tree(codes, n_bins, signed, opposite, max_leaves):
    """Return the stumps in the order in which they were added, and every row's votes."""
    rows = range(len(codes))
    leaves = [{"rows": rows, "votes": list(map(sign, totals(rows, signed))), "edge": 0}]
    stumps = []
    for leaf in leaves:
        leaf["best"] = best_stump(codes, n_bins, rows, signed, opposite)
    while len(leaves) < max_leaves:
        gains = [0 if leaf["best"] is None else leaf["best"].edge - leaf["edge"] for leaf in leaves]
        place = gains.index(max(gains))
        if gains[place] <= 0:
            break
        stump = leaves[place]["best"]
        stumps.append((stump, gains[place]))
        sides = []
        for is_left in (True, False):
            votes = stump.left if is_left else stump.right
            own = [row for row in leaves[place]["rows"] if (stump.votes(codes[row]) is stump.left) == is_left]
            edge = sum(total * vote for total, vote in zip(totals(own, signed), votes, strict=True))
            best = best_stump(codes, n_bins, own, signed, opposite)
            sides.append({"rows": own, "votes": votes, "edge": edge, "best": best})
        leaves[place] = sides[0]
        leaves.append(sides[1])
    outputs = [None] * len(codes)
    for leaf in leaves:
        for row in leaf["rows"]:
            outputs[row] = leaf["votes"]
    return stumps, outputs, [len(leaf["rows"]) for leaf in leaves]


def fit_product(codes, n_bins, signed, opposite, max_terms):
    """Return the terms, constants among them, and every row's votes."""
    rows, n_classes = range(len(codes)), len(signed[0])
    terms = [Stump(0, [1] * n_classes, [1] * n_classes) for _ in range(max_terms)]
    edge, settled, place = 0, 0, 0
    while settled < max_terms:
        others = [term for number, term in enumerate(terms) if number != place]
        modified = [
            [value * vote for value, vote in zip(signed[row], product(others, codes[row], n_classes), strict=True)]
            for row in rows
        ]
        sums = totals(rows, modified)
        votes = list(map(sign, sums))
        best = Stump(sum(map(abs, sums)), votes, votes)
        stump = best_stump(codes, n_bins, rows, modified, opposite)
        if stump is not None and stump.edge > best.edge:
            best = stump
        if best.edge > edge:
            edge, terms[place], settled = best.edge, best, 1
        else:
            settled += 1
        place = (place + 1) % max_terms
    return terms, [product(terms, codes[row], n_classes) for row in rows], edge


def product(terms, codes, n_classes):
    votes = [1] * n_classes
    for term in terms:
        votes = [a * b for a, b in zip(votes, term.votes(codes), strict=True)]
    return votes
