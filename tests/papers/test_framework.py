"""The runner of experiments: what is kept, what is tested, and what the table says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pytest

import rankwright as rw
from papers.small_collections import write_collection
from rankwright.base.errors import InputError
from rankwright.papers.framework.catalogue import find_paper
from rankwright.papers.framework.claims import alike, better, better_than_published
from rankwright.papers.framework.experiment import (
    Absent,
    Claim,
    DataTrial,
    Experiment,
    Finding,
    Paper,
    Published,
    Setup,
)
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.measures import (
    TRAIN,
    ByRound,
    FitSeconds,
    LabelErrors,
    MeanOverCuts,
    NumberOfPairs,
    PerQuery,
    Rounds,
)
from rankwright.papers.framework.reproduce import OUTCOMES, reproduce
from rankwright.papers.framework.rows import (
    HIGHER,
    NO_DATA,
    NOT_REACHED,
    NOT_SHOWN,
    OPPOSITE,
    OTHER_DATA,
    REACHED,
    rows_of,
    table_of,
)
from rankwright.papers.framework.sources import COLLECTIONS, divided, find_collections, letor
from rankwright.papers.framework.systems import BestOf, FittedSystem, OneFeature
from rankwright.reports.blocks import markdown

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Small:
    """Two small trials."""

    title: str = "small"

    def trials(self):
        return ["A", "B"]

    def trial(self, name):
        truth = rw.synthetic.RandomPolynomial.draw(1, n_features=5, n_active=3, n_terms=4, degree=1)
        seeds = (10, 11, 12) if name == "A" else (20, 21, 22)
        return DataTrial(name, *(truth.sample(12, seed=seed, n_documents=8) for seed in seeds))


@dataclass(frozen=True)
class Counted:
    """A system that counts its fits, and fails when told to."""

    ranker: object
    fits: list = field(default_factory=list, repr=False, compare=False)
    lock: Lock = field(default_factory=Lock, repr=False, compare=False)
    fail_at: int | None = field(default=None, repr=False)

    def __call__(self, trial, threads):
        with self.lock:
            self.fits.append(trial.name)
            if self.fail_at is not None and len(self.fits) > self.fail_at:
                raise KeyboardInterrupt
        return FittedSystem(self.ranker)(trial, threads)


def paper(*experiments):
    return Paper("small-2026", "A small paper", "Nobody 2026", lambda _setup: experiments)


def experiment(**changes):
    systems = {"AdaRank": FittedSystem(rw.AdaRank(rounds=3)), "feature": OneFeature(1)}
    made = Experiment("first", "Two trials.", Small(), systems, (PerQuery(("ndcg@5", "map")),))
    return replace(made, **changes)


def test_every_system_is_measured_on_every_trial(tmp_path):
    found = reproduce(paper(experiment()), work=tmp_path)
    results = found.done[0].results
    assert results.models == ("AdaRank", "feature")
    for system in results.models:
        assert results.values(system, "ndcg@5").shape == (24,)
    trial = Small().trial("A")
    direct = rw.evaluate({"x": trial.test.X[:, 0].astype(float)}, trial.test, metrics=["ndcg@5"])
    np.testing.assert_array_equal(results.on_trial("feature", "ndcg@5", "A"), direct.per_query("x", "ndcg@5"))


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    systems = {"one": Counted(rw.AdaRank(rounds=1)), "two": Counted(rw.AdaRank(rounds=2), fail_at=1)}
    with pytest.raises(KeyboardInterrupt):
        reproduce(paper(experiment(systems=systems)), work=tmp_path, workers=1)
    kept = len(list(tmp_path.glob("*.npz")))
    assert kept == 3  # both systems on the first trial, and one on the second
    again = {"one": Counted(rw.AdaRank(rounds=1)), "two": Counted(rw.AdaRank(rounds=2))}
    started = []
    found = reproduce(
        paper(experiment(systems=again)), work=tmp_path, on_start=lambda *counts: started.append(counts)
    )
    assert started == [(4, 3)]
    assert again["one"].fits == []
    assert again["two"].fits == ["B"]
    whole = reproduce(paper(experiment(systems=again)), work=tmp_path / "other")
    for one, other in zip(found.done, whole.done, strict=True):
        for key, values in one.results.arrays.items():
            if key[1] != "fit seconds":
                np.testing.assert_array_equal(values, other.results.arrays[key])


def test_a_changed_declaration_is_fitted_again(tmp_path):
    for rounds, expected in ((1, 2), (2, 2), (1, 0)):
        system = Counted(rw.AdaRank(rounds=rounds))
        reproduce(paper(experiment(systems={"one": system})), work=tmp_path)
        assert len(system.fits) == expected


def test_the_mark_is_that_of_the_declaration_with_and_without_data(tmp_path):
    folders = {"OHSUMED": tmp_path}
    marks = {
        (name, has_data): experiment(source=source(Setup(folders if has_data else {}, quick=False))).mark()
        for has_data in (True, False)
        for name, source in {
            "folds": lambda setup: letor(setup, "OHSUMED"),
            "four": lambda setup: divided(setup, "OHSUMED", n_folds=4),
            "five": lambda setup: divided(setup, "OHSUMED", n_folds=5),
        }.items()
    }
    assert len(set(marks.values())) == 3
    for name in ("folds", "four", "five"):
        assert marks[name, True] == marks[name, False]


def test_a_damaged_file_is_fitted_again(tmp_path):
    system = Counted(rw.AdaRank(rounds=1))
    reproduce(paper(experiment(systems={"one": system})), work=tmp_path)
    first, second = sorted(tmp_path.glob("*.npz"))
    first.write_bytes(first.read_bytes()[:50])
    second.write_bytes(b"")
    with pytest.warns(UserWarning, match="cannot be read and is fitted again"):
        reproduce(paper(experiment(systems={"one": system})), work=tmp_path)
    assert len(system.fits) == 4


def test_outcomes_survive_the_file(tmp_path):
    outcome = {("a, b", "ndcg@5 by round"): np.arange(6.0).reshape(2, 3), ("", "seconds"): np.array([np.nan])}
    OUTCOMES.write(outcome, tmp_path / "x.npz")
    found = OUTCOMES.read(tmp_path / "x.npz")
    assert list(found) == list(outcome)
    for key, values in outcome.items():
        np.testing.assert_array_equal(found[key], values)


def test_one_or_more_workers_give_the_same(tmp_path):
    results = [reproduce(paper(experiment()), work=tmp_path / str(n), workers=n).done[0].results for n in (1, 2)]
    for key, values in results[0].arrays.items():
        if key[1] != "fit seconds":
            np.testing.assert_array_equal(values, results[1].arrays[key])


def made_results(**values):
    return Measurements(("A",), {(model, "map", "A"): np.asarray(ones, float) for model, ones in values.items()})


def test_a_number_is_reached_or_not():
    x = np.tile([0.3, 0.5], 50)
    results = made_results(x=x, other=np.roll(x, 1))  # the mean of x is .4; paired differences are +-.2
    assert results.paired_reach("map") == pytest.approx(0.0399, abs=1e-4)
    states = {
        value: rows_of(experiment(published=(Published("Table 1", "x", "map", value),)), results)[0].state
        for value in (0.359, 0.361, 0.439, 0.441)
    }
    assert states == {0.359: HIGHER, 0.361: REACHED, 0.439: REACHED, 0.441: NOT_REACHED}
    other = Published("Table 1", "x", "map", 0.5, comparable=False)
    assert rows_of(experiment(published=(other,)), results)[0].state == OTHER_DATA
    featured = Published("Table 1", "x", "map", 0.5, other_features=True)
    assert rows_of(experiment(published=(featured,)), results)[0].shown_state == "other data (not reached)"


@pytest.mark.parametrize(("ours", "state"), [(0.44996, REACHED), (0.44994, NOT_REACHED)])
def test_a_published_number_is_compared_at_four_digits(ours, state):
    results = made_results(x=np.full(10, ours))
    published = Published("", "x", "map", 0.4500)
    assert rows_of(experiment(published=(published,)), results)[0].state == state


def test_rows_without_data_say_why():
    missing = experiment(
        source=Absent("TD2003", "--data has no folder TD2003"),
        published=(Published("Table 2", "x", "map", 0.3),),
        claims=(Claim("Figure 1", "it is so", lambda _: Finding(REACHED, "")),),
    )
    for row in rows_of(missing, None):
        assert row.state == NO_DATA
        assert row.why == "--data has no folder TD2003"
        assert row.ours is None


def test_better_needs_direction_and_significance():
    random = np.random.default_rng(0)
    base = random.random(60)
    results = made_results(
        base=base, higher=base + 0.1, near=base + random.normal(0.005, 0.2, 60), lower=base - 0.1
    )
    assert better("higher", ("base", "lower"), "map")(results).state == REACHED
    assert better("base", ("lower", "higher"), "map")(results).state == OPPOSITE
    found = better("lower", ("higher", "near"), "map")(results)
    assert found.value == pytest.approx(results.compare("lower", "higher", "map").difference)
    assert found.p_value < 0.001  # of the difference that is shown
    for pair in (("near", "base"), ("base", "near"), ("base", "base")):
        unsure = better(pair[0], pair[1:], "map")(results)
        assert unsure.state == NOT_SHOWN
        assert unsure.p_value > 0.05


def test_better_than_published_compares_with_their_means():
    x = np.tile([0.3, 0.5], 50)
    results = made_results(x=x, y=np.roll(x, 1))
    states = {
        mean: better_than_published("x", {"other": mean}, "map")(results).state for mean in (0.359, 0.361, 0.441)
    }
    assert states == {0.359: REACHED, 0.361: NOT_SHOWN, 0.441: OPPOSITE}


def test_a_claim_has_a_second_state_against_published_baselines():
    results = made_results(x=np.tile([0.3, 0.5], 50), base=np.tile([0.3, 0.5], 50))
    test, against = better("x", ("base",), "map"), better_than_published("x", {"base": 0.3}, "map")
    (row,) = rows_of(experiment(claims=(Claim("", "", test, against_published=against),)), results)
    assert (row.state, row.against_published) == (NOT_SHOWN, REACHED)
    assert "against published numbers" in row.remarks


def test_rows_on_data_that_stand_in_say_so():
    results = made_results(x=np.tile([0.3, 0.5], 50), base=np.tile([0.2, 0.4], 50))
    number, claim = Published("", "x", "map", 0.4), Claim("", "", better("x", ("base",), "map"))
    rows = rows_of(experiment(published=(number,), claims=(claim,), stand_in=True), results)
    assert [(row.state, row.on_these_data) for row in rows] == [(OTHER_DATA, ""), (OTHER_DATA, REACHED)]
    assert rows[1].shown_state == "other data (reached)"


def test_alike_is_refuted_by_one_clear_difference():
    random = np.random.default_rng(0)
    base = random.random(60)
    results = made_results(a=base, b=base + random.normal(0, 0.01, 60), c=base + 0.1)
    assert alike(("a", "b"), "map")(results).state == REACHED
    assert alike(("a", "b", "c"), "map")(results).state == OPPOSITE


def test_queries_of_several_trials_are_averaged():
    arrays = {
        ("x", "train map", "A"): np.array([0.1, 0.2]),
        ("x", "train queries", "A"): np.array([7.0, 3.0]),
        ("x", "train map", "B"): np.array([0.5, 0.4]),
        ("x", "train queries", "B"): np.array([3.0, 9.0]),
    }
    found = Measurements(("A", "B"), arrays).query_means("x", "train map", "train queries")
    np.testing.assert_allclose(found, [0.35, 0.1, 0.4])  # queries 3, 7 and 9


def test_a_query_of_several_trials_counts_once_in_the_interval():
    random = np.random.default_rng(1)
    values, queries = random.random(30), np.arange(30.0)
    arrays = {
        ("x", name, trial): array
        for trial in ("A", "B", "C")
        for name, array in (("train map", values), ("train queries", queries))
    }
    thrice, once = Measurements(("A", "B", "C"), arrays), Measurements(("A",), arrays)
    assert thrice.interval("x", "train map", "train queries") == pytest.approx(once.interval("x", "train map"))
    assert np.ptp(thrice.interval("x", "train map")) < 0.6 * np.ptp(once.interval("x", "train map"))


def test_measures_agree_with_direct_computation():
    trial = Small().trial("A")
    model = rw.MART(rounds=6, n_jobs=1).fit(trial.train)
    curve = ByRound("ndcg@5", (2, 6, 50))(model, trial, 1)
    report = rw.evaluate_rounds(model, trial.test, [2, 6], metrics=["ndcg@5"])
    np.testing.assert_array_equal(curve["ndcg@5 by round"][0], report.report.per_query("MART, 2 rounds", "ndcg@5"))
    np.testing.assert_array_equal(curve["ndcg@5 by round"][1], curve["ndcg@5 by round"][2])
    means = MeanOverCuts("mean", "ndcg@{}", (1, 3))(model, trial, 1)["mean"]
    each = PerQuery(("ndcg@1", "ndcg@3"))(model, trial, 1)
    np.testing.assert_allclose(means, (each["ndcg@1"] + each["ndcg@3"]) / 2)
    errors = LabelErrors((0, 1, 2, 3, 4))(model, trial, 1)
    total = sum(values.sum() for name, values in errors.items() if name.startswith("pairs"))
    assert total == NumberOfPairs()(model, trial, 1)["pairs"].sum()
    analysed = rw.analyses.pair_errors({"x": model}, trial.test)
    wrong = errors["wrong 1 > 0"].sum() / errors["pairs 1 > 0"].sum()
    assert wrong == pytest.approx(analysed.rate("x", "1 > 0"))
    recorded = Rounds((TRAIN, "validation"))(model, trial, 1)
    assert all(len(values) == 6 for values in recorded.values())
    assert "train queries" in PerQuery(("map",), part=TRAIN)(model, trial, 1)


def test_times_are_those_of_further_fits(tmp_path):
    system = Counted(rw.AdaRank(rounds=1))
    timed = experiment(systems={"one": system}, measures=(FitSeconds(3),))
    results = reproduce(paper(timed), work=tmp_path).done[0].results
    assert len(system.fits) == 2  # one per trial: what comes after it is timed
    assert (results.values("one", "fit seconds") > 0).all()


def test_the_best_setting_is_that_of_the_validation_part():
    trial = Small().trial("A")
    settings = tuple(rw.MART(rounds=rounds, learning_rate=0.3) for rounds in (1, 30))
    best = BestOf(settings, "ndcg@5", validate=False)(trial, 1)
    values = [FittedSystem(one, validate=False)(trial, 1).score(trial.valid) for one in settings]
    assert best.rounds == settings[int(np.argmax(values))].rounds


def test_names_of_papers():
    assert find_paper("adarank-2007").authors == "Xu & Li 2007"
    with pytest.raises(InputError, match="Did you mean mpboost-2009"):
        find_paper("mpboost")


def test_folders_without_folds_or_of_another_collection_are_refused(tmp_path):
    with pytest.raises(InputError, match="There is no folder"):
        find_collections(tmp_path / "nothing")
    with pytest.raises(InputError, match="no collection of LETOR"):
        find_collections(tmp_path)
    (tmp_path / "OHSUMED").mkdir()
    with pytest.raises(InputError, match="contains no folds"):
        find_collections(tmp_path)
    write_folds(tmp_path / "OHSUMED", n_features=3, n_queries=4)
    with pytest.raises(InputError, match="is not OHSUMED: it has 3 features, OHSUMED has 45"):
        find_collections(tmp_path)


def test_a_collection_with_as_many_features_but_other_queries_is_refused(tmp_path):
    write_folds(tmp_path / "MQ2007", n_features=46, n_queries=4)
    with pytest.raises(InputError, match=r"is not MQ2007: .* 20 queries together, MQ2007 has 1692"):
        find_collections(tmp_path)


def test_results_of_other_data_with_the_same_names_are_not_taken(tmp_path):
    system = Counted(rw.AdaRank(rounds=1))
    on_letor = Paper(
        "small-2026",
        "A small paper",
        "Nobody 2026",
        lambda setup: (experiment(source=letor(setup, "TD2003"), systems={"one": system}),),
    )
    for place, n_documents, expected in (("a", 6, 5), ("b", 7, 10), ("a", 6, 10)):
        if not (tmp_path / place).exists():
            write_collection(tmp_path / place, "TD2003", n_documents=n_documents)
        reproduce(on_letor, tmp_path / place, work=tmp_path / "work")
        assert len(system.fits) == expected


def write_folds(folder: Path, *, n_features: int, n_queries: int) -> None:
    for fold in range(5):
        path = folder / f"Fold{fold + 1}"
        path.mkdir(parents=True)
        for place, part in enumerate(("train", "vali", "test")):
            truth = rw.synthetic.RandomPolynomial.draw(1, n_features=n_features, n_active=2, n_terms=2, degree=1)
            data = truth.sample(n_queries, seed=10 * fold + place, n_documents=4)
            named = rw.RankingData(data.X, data.y, data.qid + 100 * fold)
            rw.write_letor(named, path / f"{part}.txt")


def test_a_paper_without_any_data_is_refused(tmp_path):
    with pytest.raises(InputError, match="adarank-2007 needs data: give --data a folder that has OHSUMED"):
        reproduce(find_paper("adarank-2007"), work=tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        reproduce(paper(experiment()), work=tmp_path / "file" / "work")


def test_a_folder_that_cannot_be_written_to_is_refused_before_any_fit(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwright.base.fit_cache.os.access", lambda _path, _mode: False)
    system = Counted(rw.AdaRank(rounds=1))
    with pytest.raises(InputError, match=r"The work folder .* cannot be written to"):
        reproduce(paper(experiment(systems={"one": system})), work=tmp_path)
    assert system.fits == []


def test_the_table_in_markdown():
    (row,) = rows_of(experiment(published=(Published("Table 1", "x", "map", 0.4),)), made_results(x=[0.3, 0.5]))
    head, line, first = markdown(table_of([row])).split("\n")
    assert head.count("|") == line.count("|") == first.count("|")
    assert "0.4000" in first


def test_known_collections_have_a_bm25_feature():
    for one in COLLECTIONS.values():
        assert 1 <= one.bm25 <= one.n_features
