import json

import numpy as np
import pytest
from scipy.stats import wilcoxon

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.readers.trec import Judgements, Run
from rankwright.judgements.selection import pooled_discounts

of = rw.judgements.GradeTable.of


def run_of(order, query="q", tag="run"):
    return Run.of([query] * len(order), list(order), np.arange(len(order), 0, -1), tag=tag)


def test_discounts_of_the_pool():
    pairs, discounts = pooled_discounts({"a": run_of("xyz"), "b": run_of("zx")}, 2)
    assert pairs == [("q", "x"), ("q", "y"), ("q", "z")]
    second = 1 / np.log2(3)
    np.testing.assert_allclose(discounts, [[1, second], [second, 0], [0, 1]])


def test_documents_that_systems_agree_about_do_not_matter():
    runs = {"a": run_of("xyz"), "b": run_of("xzy")}
    chosen = rw.judgements.next_documents(runs)
    assert {each.document for each in chosen.candidates} == {"y", "z"}
    assert chosen.unjudged == chosen.pool == 3
    assert rw.judgements.next_documents({"a": run_of("xyz")}, n=1).candidates[0].document == "x"


def test_documents_that_judges_disagree_about_come_before_those_they_agree_about():
    random = np.random.default_rng(0)
    names = [f"d{number:02}" for number in range(40)]
    true = random.integers(0, 3, 40)
    grades = np.column_stack([true, true, true])
    grades[7] = (0, 2, 0)
    grades[8] = (2, 0, 2)
    table = of(["q"] * 40, names, ["a", "b", "c"], grades)
    runs = {"a": run_of(names), "b": run_of(names[::-1])}
    documents = [each.document for each in rw.judgements.next_documents(runs, table, depth=40).candidates]
    assert set(documents[:2]) == {"d07", "d08"}
    unjudged = {name: run_of([*names[:20], "new", *names[20:]][::step]) for name, step in (("a", 1), ("b", -1))}
    unjudged["b"] = run_of(["new", *names[::-1]])
    first = rw.judgements.next_documents(unjudged, table, depth=40).candidates[0]
    assert (first.document, first.judges) == ("new", 0)


def test_the_run_of_a_result_and_its_text():
    result = rw.judgements.next_documents({"a": run_of("xyz"), "b": run_of("zyx")}, n=2)
    assert set(result.run.document_ids.tolist()) == {"x", "z"}
    assert result.summary == "2 documents to judge next, of 3 documents at the first 10 ranks, 3 not judged."
    json.dumps(result.to_dict(), allow_nan=False)
    same = rw.judgements.next_documents({"a": run_of("xyz"), "b": run_of("xyz")})
    assert same.summary.startswith("No document needs to be judged")
    assert len(same.run) == 0
    assert str(same)


def test_bad_input():
    empty = Run.of(np.array([], str), [], [])
    with pytest.raises(InputError, match="The pool is empty: no run has a document"):
        rw.judgements.next_documents({"a": empty})
    with pytest.raises(InputError, match="n must be a positive integer, not 0"):
        rw.judgements.next_documents({"a": run_of("x")}, n=0)
    with pytest.raises(InputError, match="None of the judged queries is in the runs"):
        rw.judgements.next_documents({"a": run_of("x")}, of(["other"], ["x"], ["ada"], [[1]]))
    table = of(["other", "q"], ["x", "x"], ["ada"], [[1], [0]])
    notes = rw.judgements.next_documents({"a": run_of("x")}, table).notes
    assert notes == ("1 judged query not in any run, left out.",)


@pytest.mark.slow
def test_what_is_chosen_settles_a_comparison_sooner_than_chance():
    """The error of the difference of two systems, after a quarter of the pool is judged, in 30 worlds."""
    errors = np.array([_errors(world) for world in range(30)])
    chosen, by_chance = errors.T
    assert chosen.mean() < 0.8 * by_chance.mean()
    assert wilcoxon(chosen, by_chance).pvalue < 0.05


def _errors(world):
    random = np.random.default_rng(world)
    n_queries, n_documents = 30, 40
    queries = np.repeat([f"q{number}" for number in range(n_queries)], n_documents)
    names = np.array([f"d{row}" for row in range(len(queries))])
    true = random.choice(4, len(queries), p=[0.6, 0.2, 0.15, 0.05])
    runs = {
        name: Run.of(queries, names, true + noise * random.normal(size=len(true)), tag=name)
        for name, noise in (("a", 1), ("b", 1.2))
    }
    pairs, _ = pooled_discounts(runs, 10)
    grade = dict(zip(zip(queries.tolist(), names.tolist(), strict=True), true.tolist(), strict=True))
    known = set(random.permutation(len(pairs))[: len(pairs) // 10].tolist())
    start = [pairs[row] for row in known]
    budget = len(pairs) // 4
    table = of(
        [query for query, _ in start], [name for _, name in start], ["ada"], [[grade[pair]] for pair in start]
    )
    more = rw.judgements.next_documents(runs, table, n=budget).candidates
    chosen = [*start, *((each.query, each.document) for each in more)]
    rest = [pair for row, pair in enumerate(pairs) if row not in known]
    by_chance = [*start, *(rest[row] for row in random.permutation(len(rest))[:budget])]
    truth = _difference(runs, pairs, grade)
    return abs(_difference(runs, chosen, grade) - truth), abs(_difference(runs, by_chance, grade) - truth)


def _difference(runs, judged, grade):
    labels = Judgements.of(
        [query for query, _ in judged], [name for _, name in judged], [grade[pair] for pair in judged]
    )
    report = rw.evaluate(runs, labels, metrics="dcg@10", queries="judged", convention="standard")
    return report.mean("a", "dcg@10") - report.mean("b", "dcg@10")


def test_no_change_exceeds_1_where_next_to_nothing_is_relevant():
    names = [f"d{number}" for number in range(40)]
    grades = np.zeros((40, 3))
    grades[0, 2] = 3
    table = of(["q"] * 40, names, ["a", "b", "c"], grades)
    runs = {"a": run_of(names), "b": run_of(names[::-1])}
    changes = [each.change for each in rw.judgements.next_documents(runs, table).candidates]
    assert 0 < max(changes) <= 1
