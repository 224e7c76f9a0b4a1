import io
import json
import pickle
import resource
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from auto.examples import judged, rankers, shuffled
from rankwright.auto import portfolio as fitting
from rankwright.base import fit_cache as module
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.models.model_file import encode

DATA = judged()
N_FITS = 3 * (2 * 10 + 1)


def auto(work=None, portfolio=None, **parameters):
    return rw.AutoRanker(portfolio=portfolio or rankers(), work=work, n_jobs=1, **parameters)


@pytest.fixture
def fits(monkeypatch):
    """The rankers that were fitted, one per fit."""
    seen, fit = [], fitting.fitted_scorer

    def counted(ranker, *args, **options):
        seen.append(type(ranker).__name__)
        return fit(ranker, *args, **options)

    monkeypatch.setattr(fitting, "fitted_scorer", counted)
    return seen


@pytest.fixture(scope="module")
def expected():
    return auto().fit(DATA)


@pytest.fixture(scope="module")
def ended(tmp_path_factory, expected):
    """The work folder of a run that has ended."""
    path = tmp_path_factory.mktemp("ended") / "work"
    found = auto(path).fit(DATA)
    assert encode(found.model_) == encode(expected.model_)  # as without a folder
    return path


@pytest.fixture
def folder(ended, tmp_path):
    """A copy of it."""
    return shutil.copytree(ended, tmp_path / "work")


def files(folder):
    return sorted(one for one in folder.rglob("*") if one.suffix in (".npz", ".rw"))


def test_a_second_run_fits_nothing_and_gives_the_same_model(folder, fits, expected):
    again = auto(folder).fit(DATA)
    assert not fits
    assert encode(again.model_) == encode(expected.model_)
    assert again.estimate_ == expected.estimate_
    assert [one.rounds for one in again.standings_] == [one.rounds for one in expected.standings_]


def test_the_seconds_of_fits_are_kept(folder):
    one, two = (auto(folder).fit(DATA) for _ in range(2))
    assert [row.seconds for row in one.standings_] == [row.seconds for row in two.standings_]
    assert all(row.seconds > 0 for row in one.standings_)


def test_every_fit_has_a_file_and_nothing_else_is_left(folder):
    assert len(files(folder)) == N_FITS
    names = sorted(one.name for one in folder.iterdir())
    assert [name.rsplit("-", 1)[0] for name in names] == ["adarank", "lambdamart", "ranksvm", "work.json"]
    assert len([one for one in folder.rglob("*") if one.is_file()]) == N_FITS + 1


def test_only_what_is_missing_is_fitted_again(folder, fits, expected):
    missing = files(folder)[::2]
    for one in missing:
        one.unlink()
    assert encode(auto(folder).fit(DATA).model_) == encode(expected.model_)
    assert len(fits) == len(missing)
    assert len(files(folder)) == N_FITS


def test_the_order_of_rows_and_the_names_of_queries_do_not_matter(folder, fits, expected):
    assert encode(auto(folder).fit(shuffled(DATA)).model_) == encode(expected.model_)
    assert not fits


def test_another_portfolio_takes_the_fits_that_it_shares(folder, fits):
    auto(folder, [rw.AdaRank(rounds=4), rw.LambdaMART(rounds=5), rw.RankSVM()]).fit(DATA)
    assert fits == ["LambdaMART"] * (N_FITS // 3)


def test_a_run_with_more_threads_goes_on_too(folder, fits, expected):
    found = auto(folder).set_params(n_jobs=3).fit(DATA)
    assert not fits
    assert encode(found.model_) == encode(expected.model_)


def test_weights_belong_to_the_run(tmp_path, fits):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(DATA))
    kept = auto(tmp_path, rankers()[:1]).fit(DATA, sample_weight=weights)
    fits.clear()
    again = auto(tmp_path, rankers()[:1]).fit(DATA, sample_weight=weights)
    assert not fits
    assert encode(again.model_) == encode(kept.model_)
    with pytest.raises(InputError, match=r"belongs to a run that differs in weights: choose another folder"):
        auto(tmp_path, rankers()[:1]).fit(DATA)


# Damage


def object_arrays(tmp_path):
    """A file that would run code if it were unpickled."""

    class Trap:
        def __reduce__(self):
            return Path.write_text, (tmp_path / "sprung", "")

    content = io.BytesIO()
    np.savez(content, scores=np.array([Trap()], dtype=object), seconds=1.0)
    return content.getvalue()


def one_bit_changed(content, place):
    return content[:place] + bytes([content[place] ^ 32]) + content[place + 1 :]


DAMAGES = {
    "empty": lambda content: content[:0],
    "truncated": lambda content: content[: len(content) // 2],
    "garbage": lambda content: b"garbage" * len(content),
    "a pickle": lambda content: pickle.dumps({"scores": content}),
    "a bit": lambda content: one_bit_changed(content, len(content) // 3),
    "the last bytes": lambda content: one_bit_changed(content, len(content) - 3),
}


def mended(folder, fits, expected, kind):
    """Check that one file is fitted again; return the warning."""
    with pytest.warns(UserWarning, match=f"{kind} cannot be read and is fitted again: ") as caught:
        found = auto(folder).fit(DATA)
    assert fits == ["RankSVM"]
    assert encode(found.model_) == encode(expected.model_)
    assert encode(auto(folder).fit(DATA).model_) == encode(expected.model_)
    assert fits == ["RankSVM"]  # the damage is mended
    (warning,) = caught
    return str(warning.message)


@pytest.mark.parametrize("kind", ["part-3.npz", "all.rw"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_fitted_again_with_a_warning(folder, fits, expected, damage, kind):
    (path,) = folder.glob(f"ranksvm-*/{kind}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    mended(folder, fits, expected, kind)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda scores: {"scores": scores}, "seconds"),
        (lambda scores: {"scores": scores[0], "seconds": 1.0}, "its scores have the shape"),
        (lambda scores: {"scores": scores[:0], "seconds": 1.0}, "its scores have the shape"),
        (lambda scores: {"scores": scores[:, 1:], "seconds": 1.0}, "its scores have the shape"),
        (lambda scores: {"scores": scores * np.nan, "seconds": 1.0}, "its scores are not finite numbers"),
        (lambda scores: {"scores": scores.astype(str), "seconds": 1.0}, "its scores are not finite numbers"),
    ],
    ids=["no seconds", "a list", "no rows", "other documents", "NaN", "text"],
)
def test_scores_of_something_else_are_fitted_again(folder, fits, expected, change, reason):
    (path,) = folder.glob("ranksvm-*/part-3.npz")
    with np.load(path) as kept:
        scores = kept["scores"]
    np.savez(path, **change(scores))
    assert reason in mended(folder, fits, expected, "part-3.npz")


def test_an_array_in_place_of_an_archive_is_fitted_again(folder, fits, expected):
    (path,) = folder.glob("ranksvm-*/part-3.npz")
    with path.open("wb") as file:
        np.save(file, np.ones((1, 12)))
    mended(folder, fits, expected, "part-3.npz")


def test_nothing_is_unpickled(folder, fits, tmp_path):
    (path,) = folder.glob("ranksvm-*/part-3.npz")
    path.write_bytes(object_arrays(tmp_path))
    with pytest.warns(UserWarning, match=r"part-3.npz cannot be read and is fitted again: .*allow_pickle=False"):
        auto(folder).fit(DATA)
    assert fits == ["RankSVM"]
    assert not (tmp_path / "sprung").exists()


def test_a_model_of_other_features_is_fitted_again(folder, fits):
    (path,) = folder.glob("ranksvm-*/all.rw")
    rw.save(rw.RankSVM().fit(DATA.X[:, :2], DATA.y, DATA.qid), path)
    with pytest.warns(UserWarning, match="all.rw cannot be read and is fitted again: "):
        auto(folder).fit(DATA)
    assert fits == ["RankSVM"]


# Folders of others


def changed(**arrays):
    return RankingData(
        arrays.get("X", DATA.X), arrays.get("y", DATA.y), DATA.qid, feature_names=arrays.get("names")
    )


def one_more(values, row=3):
    values = np.array(values)
    values[row] += 1
    return values


@pytest.mark.parametrize(
    "data",
    [changed(X=one_more(DATA.X)), changed(y=one_more(DATA.y)), changed(names=list("abcd")), judged(13)],
    ids=["features", "labels", "names", "queries"],
)
def test_other_data_are_refused(folder, data):
    with pytest.raises(InputError) as caught:
        auto(folder).fit(data)
    assert str(caught.value) == (
        f"The work folder {folder} belongs to a run that differs in data: "
        "choose another folder, or delete this one."
    )


def test_another_metric_seed_or_version_is_refused(folder, monkeypatch):
    message = (
        "belongs to a run that differs in metric and random_state: choose another folder, or delete this one.$"
    )
    with pytest.raises(InputError, match=message):
        auto(folder, metric="map", random_state=1).fit(DATA)
    with pytest.raises(InputError, match="that differs in random_state:"):
        auto(folder, random_state=1).fit(DATA)
    monkeypatch.setattr(module, "__version__", "99.0")
    with pytest.raises(InputError, match="that differs in rankwright:"):
        auto(folder).fit(DATA)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_a_damaged_manifest_is_refused(folder, content):
    (folder / "work.json").write_bytes(content)
    with pytest.raises(InputError) as caught:
        auto(folder).fit(DATA)
    assert str(caught.value) == (
        f"{folder / 'work.json'} cannot be read: choose another work folder, or delete this one."
    )


def test_the_manifest_of_a_later_version_is_refused(folder):
    manifest = folder / "work.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"shuffled": True}))
    with pytest.raises(InputError, match="that differs in shuffled: choose another folder"):
        auto(folder).fit(DATA)


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("...")
    with pytest.raises(InputError) as caught:
        auto(tmp_path).fit(DATA)
    assert str(caught.value) == f"The work folder {tmp_path} must be new, empty, or that of an earlier run."
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(InputError, match="must be new, empty, or that of an earlier run"):
        auto(path).fit(DATA)
    with pytest.raises(InputError, match=r"^The work folder .*/file/work cannot be made: "):
        auto(path / "work").fit(DATA)


def test_an_empty_folder_is_taken_even_if_a_run_was_killed_as_it_began(tmp_path, expected):
    (tmp_path / ".0123456789abcdef-0123.part").write_text("{")
    assert encode(auto(tmp_path).fit(DATA).model_) == encode(expected.model_)


# Runs that end early


def test_a_run_that_was_interrupted_goes_on(tmp_path, fits, expected):
    def interrupt(progress):
        if progress.fits == 30:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="Interrupted"):
        auto(tmp_path).fit(DATA, on_progress=interrupt)
    begun = len(fits)
    assert 30 <= begun < N_FITS
    assert encode(auto(tmp_path).fit(DATA).model_) == encode(expected.model_)
    assert N_FITS <= len(fits) <= N_FITS + 1  # the fit under way may be lost


KILLED = """
import os, signal, sys
import rankwright as rw
from auto.examples import judged, rankers

def kill(progress):
    if progress.fits == 30:
        os.kill(os.getpid(), signal.SIGKILL)

rw.AutoRanker(portfolio=rankers(), work=sys.argv[1], n_jobs=1).fit(judged(), on_progress=kill)
"""


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_and_loses_at_most_the_fits_under_way(tmp_path, fits, expected):
    tests = Path(__file__).parents[1]
    script = f"import sys; sys.path.insert(0, {str(tests)!r})\n{textwrap.dedent(KILLED)}"
    ended = subprocess.run([sys.executable, "-c", script, tmp_path / "work"], check=False, capture_output=True)
    assert ended.returncode == -9, ended.stderr
    assert encode(auto(tmp_path / "work").fit(DATA).model_) == encode(expected.model_)
    assert 0 < len(fits) <= N_FITS - 30


# Fits that cannot be kept


def fitted_without_keeping(folder, expected):
    """Check that the model is that of a run whose fits could be kept; return the only warning."""
    with pytest.warns(UserWarning, match="cannot keep every fit") as caught:
        result = auto(folder).fit(DATA)
    assert encode(result.model_) == encode(expected.model_)
    assert not result.run_.failures
    (warning,) = caught
    return str(warning.message)


def test_something_in_the_way_of_fits_loses_no_member(folder, fits, expected):
    for path in (*folder.glob("ranksvm-*/part-3.npz"), *folder.glob("adarank-*/all.rw")):
        path.unlink()
        path.mkdir()
    (trees,) = folder.glob("lambdamart-*")
    shutil.rmtree(trees)
    trees.write_text("")
    message = fitted_without_keeping(folder, expected)
    assert message.startswith(f"The work folder {folder} cannot keep every fit, so that a later run may have to")
    assert sorted(set(fits)) == ["AdaRank", "LambdaMART", "RankSVM"]


def test_a_full_disk_loses_no_member(folder, fits, expected):
    for path in files(folder):
        path.unlink()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        message = fitted_without_keeping(folder, expected)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert message.endswith("cannot be written: File too large.")
    assert len(fits) == N_FITS
    assert not files(folder)


# Custom metrics and rankers


def with_function(text, **globals_):
    """Define the function `own` in a module of its own."""
    module = {"np": np, "__name__": "custom", **globals_}
    exec(text, module)
    return module["own"]


FIRST = "def own(labels):\n    return float(labels[0] > 0)"
EDITED = "def own(labels):\n    return float(labels[0] > 1)"


def test_an_edited_metric_of_the_same_name_is_refused(tmp_path, fits):
    own = rw.metrics.as_metric(with_function(FIRST))
    auto(tmp_path, rankers()[:1], metric=own).fit(DATA)
    fits.clear()
    auto(tmp_path, rankers()[:1], metric=rw.metrics.as_metric(with_function(FIRST))).fit(DATA)
    assert not fits
    with pytest.raises(InputError, match="that differs in metric: choose another folder, or delete this one"):
        auto(tmp_path, rankers()[:1], metric=rw.metrics.as_metric(with_function(EDITED))).fit(DATA)


def test_a_member_with_an_edited_metric_is_fitted_again(tmp_path, fits):
    for text, n_fits in ((FIRST, 21), (FIRST, 0), (EDITED, 21)):
        fits.clear()
        auto(tmp_path, [rw.LambdaMART(metric=with_function(text), rounds=3)]).fit(DATA)
        assert len(fits) == n_fits
