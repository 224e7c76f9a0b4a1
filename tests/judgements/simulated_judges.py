"""Simulated judges, whose mistakes are known."""

import numpy as np

import rankwright as rw

FREQUENCIES = [0.45, 0.25, 0.2, 0.1]


def graded(seed, *, accuracy=(0.8, 0.8, 0.8, 0.8), careless=None, lenient=None, n_queries=50, n_documents=10):
    """Return a table and the true grades: a slip is by one grade, a careless judge guesses half of the grades."""
    random = np.random.default_rng(seed)
    n = n_queries * n_documents
    true = random.choice(4, n, p=FREQUENCIES)
    grades = np.empty((n, len(accuracy)))
    for judge, correct in enumerate(accuracy):
        slips = random.random(n) > correct
        grades[:, judge] = np.clip(true + slips * random.choice([-1, 1], n), 0, 3)
    if careless is not None:
        guessed = random.random(n) < 0.5
        grades[guessed, careless] = random.choice(4, guessed.sum(), p=FREQUENCIES)
    if lenient is not None:
        grades[:, lenient] = np.minimum(grades[:, lenient] + (random.random(n) < 0.5), 3)
    names = [f"d{row}" for row in range(n)]
    judges = [f"judge{number}" for number in range(len(accuracy))]
    return rw.judgements.GradeTable.of(np.repeat(np.arange(n_queries), n_documents), names, judges, grades), true
