"""Valid calls of the bindings, recorded while the package does a little of everything on small data.

Every call that is kept has succeeded: a call that fails before anything is made wrong in it would test nothing.
"""

import enum
import tempfile
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import sparse

import rankwright as rw
from fuzz import stub
from in_process import InProcess
from rankwright import _native
from rankwright.metrics import Metric
from rankwright.rankers.catalogue import known_rankers
from rankwright.text.analyser import characters

CALLS_BACK = ("grow_remote_tree",)  # asks workers, which are gone when the call is repeated
LOST = 30  # call of a worker, in the second round of a small fit
KEPT = 12
TRIES = 2000
LETOR = b"1 qid:1 1:0.5 3:2 #docid = a\n0 qid:1 2:1\n"
CSV = b"label,qid,a,b\n1,x,0.5,2\n0,x,,1\n"


@dataclass(frozen=True)
class Call:
    """A function of the core, arguments that it takes, and other values of the arguments' types."""

    function: Any
    arguments: tuple
    keywords: dict
    alike: dict = field(repr=False)


class TopTwo(Metric):
    """A metric without lambdas of its own in the core."""

    def of_ranking(self, labels):
        return float((labels[:2] > 0).all())


class Weighted(Metric):
    """A sum over documents, which trials find out."""

    def of_ranking(self, labels):
        return float((labels / np.arange(2, len(labels) + 2)).sum())


def recorded_calls():
    """Return some calls of every function and class of the core, by name."""
    calls, alike = defaultdict(list), defaultdict(list)
    names = [name for name in dir(_native) if not name.startswith("_") and _is_call(getattr(_native, name))]
    real = {name: getattr(_native, name) for name in names}
    for name in names:
        setattr(_native, name, _recorder(name, real[name], calls, alike))
    try:
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            _tour(Path(folder))
    finally:
        for name in names:
            setattr(_native, name, real[name])
    for name in CALLS_BACK:
        calls[name].clear()
    _add_variants(calls, alike)
    _add_methods(calls, alike)
    _add_unreached(calls, alike)
    return {name: some for name, some in sorted(calls.items()) if some}


def _is_call(value):
    return callable(value) and not (isinstance(value, type) and issubclass(value, enum.Enum))


def _recorder(name, function, calls, alike):
    def recorded(*arguments, **keywords):
        result = function(*arguments, **keywords)
        if len(calls[name]) < KEPT:
            copies = tuple(map(_copied, arguments)), {key: _copied(one) for key, one in keywords.items()}
            calls[name].append(Call(function, *copies, alike))
        _collect(result, alike)
        return result

    return recorded


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _collect(result, alike):
    kind = type(result)
    if kind.__module__ == _native.__name__ and len(alike[kind]) < KEPT:
        alike[kind].append(result)


def _tour(folder):
    """Train, score, explain, measure and combine on small data, so that every function of the core is called."""
    train, other = _judged(0), _judged(1)
    rw.RankNet(rounds=1, optimiser="descent").fit(
        train
    )  # first, as the networks below fill what is kept of a call
    fitted = [_fitted(kind, train, other) for kind in known_rankers().values() if not kind.needs_text]
    for model in fitted:
        model.predict(other)
    metrics = [kind() for kind in (rw.metrics.AP, rw.metrics.ERR, rw.metrics.RR, rw.metrics.KendallTau)]
    metrics += [kind() for kind in (rw.metrics.NDCG, rw.metrics.DCG, rw.metrics.MeanNDCG, rw.metrics.PairAccuracy)]
    for metric in metrics:
        metric(other.y, fitted[0].predict(other), other.qid)
    for metric in metrics[:3] + metrics[4:5]:
        for kind in (rw.LambdaMART, rw.LambdaRank):
            kind(metric, rounds=2).fit(train)
        rw.blend(fitted[0], fitted[1], on=other, metric=metric)
    for kind in (rw.LambdaMART, rw.LambdaRank):
        for custom in (TopTwo(), Weighted()):
            kind(custom, rounds=2).fit(train)
    rw.LambdaMART(rounds=2, subsample=0.5, subsample_by="gradient").fit(train)
    rw.LambdaMART(rounds=2, grow_policy="symmetric").fit(train)
    rw.LambdaMART.as_printed(rounds=2).fit(train)
    rw.AdaBoostMH(rounds=2, learner="product").fit(train)
    with mock.patch("rankwright.training.boosting_loop._native_rounds", return_value=None):  # one round at a time
        for learner in ("tree", "product"):
            rw.AdaBoostMH(rounds=2, learner=learner).fit(train)
        for ranker in (rw.RankBoost(rounds=2), rw.MPBoost(rounds=2), rw.McRank(rounds=2)):
            ranker.fit(train)
    distinct = rw.RankingData(train.X, np.arange(len(train)), train.qid)
    for ranker in (rw.RankBoost(rounds=2), rw.MPBoost(rounds=2)):
        ranker.fit(distinct)
    pool = {"leaves": (3,), "terms": (), "rounds_tried": (2,), "calibrations": ("sn",)}
    rw.CalibratedAdaBoost(**pool).fit(train)
    trees = rw.LambdaMART(rounds=3, max_leaves=5).fit(train).model_
    trees.contributions(other.X)
    trees.predict(sparse.csr_matrix(np.nan_to_num(other.X)))
    rw.write_letor(train, folder / "train.txt")
    rw.read_letor(folder / "train.txt")
    rw.BinnedData.create(folder / "train.txt", folder / "train.binned")
    for ranker in (rw.LambdaMART(rounds=2), rw.MART(rounds=2)):
        ranker.fit(folder / "train.binned", cluster=InProcess(2, lose=lambda call: call == LOST))
    log = rw.clicks.simulate(train, np.nan_to_num(train.X[:, 0]), sessions=20)
    for model in ("position", "bayesian"):
        rw.clicks.fit_click_model(log, model)
    (folder / "train.csv").write_bytes(CSV)
    rw.read_csv(folder / "train.csv")
    _search(folder / "index")


def _search(folder):
    """Index, change and search a few documents."""
    characters.cache_clear()
    texts = [" ".join("abcde"[: n + 1]) for n in range(5)]
    documents = [rw.text.TextDocument(f"d{n}", {"title": text[-1], "body": text}) for n, text in enumerate(texts)]
    index = rw.text.Index.build(documents[:3], folder, analyser=rw.text.Analyser(stemmer=None))
    index.add(documents[3:])
    index.search("a c", n=3)
    found = rw.text.FeatureSet().documents(index, {"q": "b c", "p": "e"}, {"q": ["d1", "d4"], "p": ["d4", "d0"]})
    index.encode(rw.text.Encoder(lambda texts: [[len(text), text.count("e"), 1.0] for text in texts], "sizes"))
    index.search_all(["b c", "e"], rw.text.Dense(), 3)
    rw.text.Dense().scores(index, rw.text.Queries.of({"q": "b c"}), [np.array([1, 4])])
    for model in (rw.text.BM25(), rw.text.AbsoluteDiscounting()):
        found.groups.scores(model, index.weights, 1)
    index.merge()


def _judged(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.clip(np.round(np.nan_to_num(X).sum(axis=1)), 0, 2)
    return rw.RankingData(X, y, np.repeat(np.arange(6), 10))


def _fitted(kind, train, other):
    small = {"rounds": 2, "portfolio": "ranksvm,adarank"}
    few = {name: small[name] for name in small.keys() & kind().get_params()}
    return kind(**few).fit(train, validation=other)


def _add_variants(calls, alike):
    """Repeat calls with one flag turned, for objects that small data do not give, such as coarse matrices."""
    for some in calls.values():
        for call in some[:3]:
            for place, flag in enumerate(call.arguments):
                if isinstance(flag, bool):
                    turned = (*call.arguments[:place], not flag, *call.arguments[place + 1 :])
                    try:
                        result = call.function(*map(_copied, turned), **call.keywords)
                    except ValueError:  # the other arguments do not allow it
                        continue
                    some.append(Call(call.function, turned, call.keywords, alike))
                    alike[type(result)] += [result] if type(result) in alike else []


def _add_methods(calls, alike):
    """Record calls of methods, which the tour makes on objects of the core."""
    X = _judged(2).X
    for scorer in alike[_native.TreeScorer][:3]:
        calls["TreeScorer.score"].append(Call(scorer.score, (X, 1), {"path": 0}, alike))
        rows = sparse.csr_matrix(np.nan_to_num(X))
        arrays = (rows.indptr, rows.indices, rows.data)
        calls["TreeScorer.score_sparse"].append(Call(scorer.score_sparse, (*arrays, 1), {}, alike))
    for grow in calls["grow_tree"][:3]:
        calls["GrowthWorkspace.leaf_of_row"].append(
            Call(_leaf_of_row, (grow.function, *grow.arguments[:-1]), grow.keywords, alike)
        )
    letor, csv = (np.frombuffer(text, dtype=np.uint8) for text in (LETOR, CSV))
    _add_parser(calls, alike, "LetorParser", _fed, letor)
    _add_parser(calls, alike, "LetorParser", _finished, letor, 0.0, np.zeros((2, 3), np.float32))
    _add_parser(calls, alike, "CsvParser", _columns, csv)


def _add_parser(calls, alike, name, use, *arguments):
    """Add a call that makes a parser as the tour did and then uses it."""
    made = calls[name][0]
    calls[f"{name}.{use.__name__}"].append(
        Call(use, (made.function, *arguments, *made.arguments), made.keywords, alike)
    )


def _add_unreached(calls, alike):
    """Try functions that the tour did not reach with arguments of others and of the stub; keep what succeeds."""
    rng = np.random.default_rng(0)
    donors = [call.keywords for some in calls.values() for call in some]
    for name, kinds in stub.functions().items():
        shared = max(len(kinds.keys() & one.keys()) for one in donors)
        nearest = [one for one in donors if len(kinds.keys() & one.keys()) == shared]
        tried = (nearest[rng.integers(len(nearest))] for _ in range(0 if calls[name] else TRIES))
        made = (Call(getattr(_native, name), (), stub.arguments(kinds, one, alike, rng), alike) for one in tried)
        calls[name] += islice(filter(_succeeds, made), KEPT)


def _succeeds(call):
    try:
        call.function(**{key: _copied(one) for key, one in call.keywords.items()})
    except (TypeError, ValueError):
        return False
    return True


def _leaf_of_row(grow, *arguments, **keywords):
    """Ask for the leaves before a tree is grown, and after, even if it could not be grown."""
    workspace = _native.GrowthWorkspace()
    before = workspace.leaf_of_row()
    try:
        grow(*arguments, workspace, **keywords)
    finally:
        after = workspace.leaf_of_row()
    return before, after


def _fed(parser, text, *made, **keywords):
    return parser(*made, **keywords).feed(text)


def _finished(parser, text, absent, features, *made, **keywords):
    one = parser(*made, **keywords)
    one.feed(text)
    return one.finish(absent, features)


def _columns(parser, text, *made, **keywords):
    one = parser(*made, **keywords)
    one.feed(text)
    one.end()
    return [(column.numbers(), column.ids() if column.is_id else None) for column in one.take_columns()]
