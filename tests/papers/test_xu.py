"""AdaRank 2007 and direct optimisation 2008: what they declare, and that every experiment runs."""

import numpy as np
import pytest

import rankwright as rw
from papers.small_collections import write_collection, write_cranfield
from rankwright.base.errors import InputError
from rankwright.papers.framework.catalogue import find_paper
from rankwright.papers.framework.cranfield import BM25, CRANFIELD, CranfieldFolds
from rankwright.papers.framework.experiment import Setup
from rankwright.papers.framework.measures import PerQuery, named
from rankwright.papers.framework.reproduce import reproduce
from rankwright.papers.framework.rows import NO_DATA, STATES
from rankwright.papers.framework.sources import Divided
from shared_data import CRANFIELD as REAL_CRANFIELD
from shared_data import SHARED, needs_cranfield, needs_shared_data

NAMES = ("adarank-2007", "direct-2008")
GIVEN = {"adarank-2007": ("OHSUMED", "TD2003", "MQ2008"), "direct-2008": ("OHSUMED", "TD2003")}


@pytest.mark.parametrize("name", NAMES)
def test_what_was_published_is_measured(name):
    for one in find_paper(name).experiments(Setup({}, quick=False)):
        measured = {
            named(metric, each.part)
            for each in one.measures
            if isinstance(each, PerQuery)
            for metric in each.metrics
        }
        assert {number.system for number in one.published} <= {*one.systems}
        assert {number.measured for number in one.published} <= measured


@pytest.mark.parametrize("name", NAMES)
def test_names_of_experiments_are_unique(name):
    names = [one.name for one in find_paper(name).experiments(Setup({}, quick=False))]
    assert len(names) == len(set(names))


def test_tables_2_and_3_have_a_row_for_every_number():
    experiments = find_paper("direct-2008").experiments(Setup({}, quick=False))
    numbers = [number for one in experiments for number in one.published]
    assert len([one for one in numbers if "as printed" not in one.system]) == 2 * 5 * 5
    of_table = {(one.where, one.system, one.value) for one in numbers}
    assert ("Table 2", "PermuRank", 0.4527) in of_table  # AP
    assert ("Table 3", "RankBoost", 0.2704) in of_table  # TD2003


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adarank-2007", pytest.param("direct-2008", marks=pytest.mark.long)])
def test_every_experiment_runs_where_there_are_data(name, tmp_path):
    for collection in GIVEN[name]:
        write_collection(tmp_path / "letor", collection)
    write_cranfield(tmp_path / "cranfield")
    result = reproduce(
        find_paper(name), tmp_path / "letor", work=tmp_path / "work", cranfield=tmp_path / "cranfield", quick=True
    )
    absent = {row.data for row in result.rows if row.state == NO_DATA}
    assert absent == ({"MQ2007"} if name == "adarank-2007" else {"TD2004", "WSJ", "AP"})
    for done in result.done:
        for picture in done.experiment.figures if done.results is not None else ():
            assert picture.draw(done.results).description


@pytest.mark.parametrize("name", NAMES)
@needs_shared_data
@pytest.mark.long
def test_the_quick_version_runs_on_real_data(name, tmp_path):
    result = reproduce(find_paper(name), SHARED / "letor", work=tmp_path, quick=True)
    assert {row.state for row in result.rows} <= set(STATES)
    assert all(row.state != NO_DATA for row in result.rows if row.data in ("OHSUMED", "MQ2008"))
    assert result.seconds < 240  # of two cores, under two minutes


class TestCranfield:
    def test_folds_have_the_queries_with_enough_relevant_documents(self, tmp_path):
        write_cranfield(tmp_path)
        source = CranfieldFolds(tmp_path, n_folds=4, least=3)
        trials = [source.trial(name) for name in source.trials()]
        assert [trial.name for trial in trials] == ["Fold1", "Fold2", "Fold3", "Fold4"]
        for trial in trials:
            assert trial.train.n_features == 7
            assert trial.valid is None
            assert not set(trial.train.qid) & set(trial.test.qid)
            for part in (trial.train, trial.test):
                assert set(np.unique(part.y)) == {0, 1}
                assert part.groups.reduce(np.add, part.y.astype(int)).min() >= 3
        queries = [set(trial.test.qid) for trial in trials]
        assert len(set.union(*queries)) == sum(map(len, queries))

    def test_a_validation_part_is_taken_from_the_training_queries(self, tmp_path):
        write_cranfield(tmp_path)
        trial = CranfieldFolds(tmp_path, n_folds=4, least=3, validation=0.25).trial("Fold1")
        parts = [set(part.qid) for part in (trial.train, trial.valid, trial.test)]
        assert len(set.union(*parts)) == sum(map(len, parts))
        assert parts[1]

    def test_another_folder_is_refused(self, tmp_path):
        (tmp_path / "cran.qry").write_text("")
        with pytest.raises(InputError, match=r"is not Cranfield: it has no cran.all.1400 and no cranqrel\."):
            reproduce(find_paper("adarank-2007"), work=tmp_path / "work", cranfield=tmp_path)

    @needs_cranfield
    def test_the_real_one_has_about_as_many_queries_as_the_paper(self):
        whole = CranfieldFolds(REAL_CRANFIELD)._whole
        assert len(whole.groups) == 118
        report = rw.evaluate({"BM25": whole.X[:, BM25 - 1]}, whole, metrics=["map"])
        assert 0.35 < report.mean("BM25", "map") < 0.6

    def test_it_is_named_alike_with_and_without_data(self, tmp_path):
        with_data, without = (
            [one.source.title for one in find_paper("adarank-2007").experiments(Setup(folders, quick=True))]
            for folders in ({CRANFIELD: tmp_path}, {})
        )
        assert with_data == without


class TestDivisions:
    def test_several_divisions_have_their_own_names_and_folds(self, tmp_path):
        write_collection(tmp_path, "TD2003", n_documents=3)
        source = Divided("TD2003", tmp_path / "TD2003", 4, repeats=2)
        assert source.trials()[0] == "Division1-Fold1"
        assert source.trials()[-1] == "Division2-Fold4"
        tests = [set(source.trial(name).test.qid) for name in source.trials()]
        assert len(set.union(*tests[:4])) == len(set.union(*tests[4:])) == 50
        assert tests[0] != tests[4]

    def test_the_first_division_is_the_single_one(self, tmp_path):
        write_collection(tmp_path, "TD2003", n_documents=3)
        one, two = (Divided("TD2003", tmp_path / "TD2003", 4, repeats=n) for n in (1, 2))
        assert set(one.trial("Fold2").test.qid) == set(two.trial("Division1-Fold2").test.qid)
