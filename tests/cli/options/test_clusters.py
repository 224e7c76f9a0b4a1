"""The option --cluster of verbs that fit."""

import pytest


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--cluster", 2], "--cluster needs a binned file that all workers see: rankwright bin"),
        (["--max-memory", 1_000_000], "--max-memory is for binned files: rankwright bin"),
        (["--cluster", 2, "--tune"], "--tune cannot be used with --cluster: rankwright tune --cluster"),
        (["--checkpoint", "fit.checkpoint"], "--checkpoint needs a cluster"),
    ],
)
def test_options_of_fits_on_clusters_need_binned_files(refuse, fold, tmp_path, options, sentence):
    assert sentence in refuse(
        "train", "mart", "--train", fold / "train.txt", "--model", tmp_path / "m.rw", *options
    )


@pytest.mark.parametrize("where", ["0", "-2", "spark", "ray:10001", "tcp://"])
def test_other_clusters_are_refused(refuse, fold, where):
    assert "--cluster is a number of processes, ray, dask, ray://HOST:PORT" in refuse(
        "crossval", "adarank", "--data", fold / "train.txt", "--cluster", where
    )


def test_a_cluster_has_its_own_number_of_workers(refuse, fold):
    command = ["tune", "ranksvm", "--data", fold / "train.txt", "--grid", "C=1,2", "--cluster", 2, "--workers", 2]
    assert "Give --cluster or --workers, not both" in refuse(*command)


@pytest.mark.slow
def test_cross_validation_on_processes_prints_the_same(run, fold):
    command = ["crossval", "lambdamart", "--set", "rounds=5", "--data", fold / "train.txt", "--folds", 3]
    alone, together = run(*command), run(*command, "--cluster", 2)
    assert together.out == alone.out
    assert together.code == 0
