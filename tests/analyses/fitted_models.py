"""Small models with rounds, fitted once for the tests of analyses."""

import rankwright as rw
from rankers.test_lambdamart import judged

TRAIN, TEST = judged(), judged(seed=2)
TREES = rw.LambdaMART(rounds=6, n_jobs=1).fit(TRAIN)
CLASSES = rw.McRank(rounds=4, n_jobs=1, trees="per_class").fit(TRAIN)
LINEAR = rw.AdaRank("map", n_jobs=1, directions="both").fit(TRAIN)
