"""Small judged collections, and AutoRanker's parts made from them without a whole run."""

import numpy as np

import rankwright as rw
from rankwright.auto.fitting import candidate_of
from rankwright.auto.mixing import JudgedEntry
from rankwright.auto.plan import FitPlan
from rankwright.auto.portfolio import Entry
from rankwright.data.dataset import RankingData
from rankwright.data.query_features import standardised
from rankwright.ensembling.pool import Pool
from rankwright.metrics import NDCG
from rankwright.models import FeatureScorer
from rankwright.training.training_set import TrainingSet

METRIC = NDCG(k=10)


def judged(n_queries=12, *, seed=1, names=None, n_docs=6, **options):
    """The first two features help, the others are noise; every query has documents with different labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=len(X)), [0.3, 1.3])
    y[::n_docs], y[1::n_docs] = 0, 2
    qid = np.repeat(np.arange(n_queries) if names is None else names, n_docs)
    return RankingData(X, y, qid, **options)


def shuffled(data, seed=5):
    """The same documents in another order, of queries with other names: text, not sorted."""
    rows = np.random.default_rng(seed).permutation(len(data))
    names = np.array([f"query {7919 * number % 1009}" for number in range(len(data.groups))])
    return RankingData(data.X[rows], data.y[rows], names[data.groups.query_of_row][rows])


def canonical(data):
    """The data as AutoRanker plans them: in canonical order."""
    return TrainingSet(data.take(TrainingSet(data).canonical_rows))


def plan_of(data, **options):
    return FitPlan.of(canonical(data), 0, **options)


def rankers():
    """A ranker without rounds, one that can be cut to fewer, and one that cannot."""
    return [rw.RankSVM(), rw.LambdaMART(rounds=12, min_documents=2), rw.AdaRank(rounds=4)]


def judge(entries, plan, *, weights=None, metric=METRIC, n_jobs=1):
    """Fit entries, or rankers named after their classes, as a run does; return what each of them gives."""
    entries = [one if isinstance(one, Entry) else Entry(type(one).__name__, one) for one in entries]
    pool = Pool()
    pool.fill([candidate_of(one, plan, metric, weights) for one in entries], n_jobs=n_jobs)
    return pool.members


def made_entry(name, plan, *values, rounds=(0,), scorer=None):
    """An entry as if it had been judged: one row of values by judgement for each number of rounds."""
    rng = np.random.default_rng(len(name))
    groups = plan.held_out.labels.groups
    scores = [standardised(rng.normal(size=groups.n_rows), groups) for _ in rounds]
    scorer = FeatureScorer(0, n_features=4, missing=0.0) if scorer is None else scorer
    return JudgedEntry(Entry(name, rw.RankSVM()), scorer, rounds, scores, values, plan.held_out, 1.0)
