import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import rankwright as rw
from rankwright import _native
from rankwright.base import array_files
from rankwright.data.readers import blocks
from rankwright.data.readers.blocks import whole_queries
from rankwright.training import binned_data, file_codes, file_survey, training_set
from reference import binning as slow

NO_LEVELS = np.zeros((0, 0), np.uint32)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=8)


def judged(n_queries=40, seed=1, n_features=5):
    """Queries of different sizes; missing values, a constant column, one of few values, equal documents."""
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), random.integers(1, 12, n_queries))
    X = random.normal(size=(len(qid), n_features)).astype(np.float32)
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 0], X[:, 1] = 1.0, random.integers(0, 4, len(qid))
    X[3] = X[2]
    return rw.RankingData(X, random.integers(0, 3, len(qid)), qid)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Make many blocks, buckets and a sample of the documents from little data."""
    monkeypatch.setattr(blocks, "FIRST_DOCUMENTS", 30)
    monkeypatch.setattr(blocks, "BLOCK_VALUES", 150)
    monkeypatch.setattr(file_codes, "BUCKET_BYTES", 1500)
    monkeypatch.setattr(file_codes, "BUCKET_FRACTION", 0)
    monkeypatch.setattr(training_set, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(file_survey, "SAMPLE_ROWS", 100)


def frame(data):
    columns = {f"f{number}": column for number, column in enumerate(data.X.T)}
    return pd.DataFrame({"qid": data.qid, "label": data.y, **columns})


def saved(ranker, path):
    rw.save(ranker, path)
    return path.read_bytes()


RANKERS = [
    rw.LambdaMART(rounds=4, n_jobs=1),
    rw.LambdaMART(rounds=4, coarse=True, subsample=0.5, subsample_by="gradient"),
    rw.MART(rounds=3, subsample=0.6, feature_fraction=0.5),
    rw.McRank(rounds=2),
    rw.RankBoost(rounds=3),
    rw.MPBoost(rounds=3),
    rw.AdaBoostMH(rounds=3),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_a_model_is_the_same_as_from_documents_in_memory(ranker, tmp_path):
    data = judged()
    rw.write_letor(data, tmp_path / "all.txt")
    coarse = bool(getattr(ranker, "coarse", False))
    binned = rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "all.binned", coarse=coarse)
    valid = judged(10, seed=2)
    in_memory = saved(ranker.fit(data, validation=valid), tmp_path / "a.rw")
    assert saved(ranker.fit(binned, validation=valid), tmp_path / "b.rw") == in_memory


def with_categories(data, *, shops=30):
    """A column of many levels, one of few, and one of weights."""
    random = np.random.default_rng(7)
    table = frame(data)
    shop = np.minimum(random.geometric(0.1, len(data)), shops)
    table["shop"] = [None if number == 5 else f"shop {number}" for number in shop]
    table["colour"] = random.choice(["red", "blue", None], len(data))
    table["weight"] = random.random(len(data))
    table["label"] = np.round(table["label"] / 2 + (shop % 7 > 3))
    return table


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize(
    "ranker",
    [
        rw.LambdaMART(rounds=4, n_jobs=1),
        rw.MART(rounds=3, query_features=["zscore", "rank", "minmax"]),
        rw.MART(rounds=3, category_splits="thresholds"),
        rw.McRank(rounds=2, query_features=["rank"]),
        rw.RankBoost(rounds=3),
        rw.MPBoost(rounds=3),
        rw.AdaBoostMH(rounds=3),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_categories_query_features_and_weights_of_files(ranker, coarse, kind, tmp_path):
    table, read = with_categories(judged()), {"categorical": ["shop", "colour"], "drop": ["weight"]}
    for number in range(3):  # parts of whole queries
        part = table[(table["qid"] * 3 // 40) == number]
        part.to_csv(tmp_path / f"{number}.csv", index=False)
        part.to_parquet(tmp_path / f"{number}.parquet")
    table.to_parquet(tmp_path / "all.pq")
    given = {"query_features": list(getattr(ranker, "query_features", ()))}
    if "coarse" in ranker.get_params():
        ranker, given = clone(ranker).set_params(coarse=coarse), given | {"coarse": coarse}
    given["category_splits"] = getattr(ranker, "category_splits", "thresholds")
    pattern = tmp_path / f"?.{kind}"
    binned = rw.BinnedData.create(
        pattern, tmp_path / "binned", weight="weight", categorical=["shop", "colour"], **given
    )
    data = rw.read_parquet(tmp_path / "all.pq", **read)
    assert binned.data.categories == data.categories
    expected = saved(ranker.fit(data, sample_weight=table["weight"].to_numpy()), tmp_path / "a")
    assert saved(ranker.fit(rw.BinnedData(tmp_path / "binned")), tmp_path / "b") == expected
    assert saved(ranker.fit(data), tmp_path / "c") != expected


def test_categories_and_query_features_are_those_of_the_ranker(tmp_path):
    with_categories(judged()).to_parquet(tmp_path / "all.parquet")
    create = partial(rw.BinnedData.create, tmp_path / "all.parquet", tmp_path / "binned")
    binned = create(categorical=["shop"], query_features=["rank"], drop=["weight", "colour"])
    with pytest.raises(rw.InputError, match=r"made with query_features=\['rank'\], .* query_features=\[\]"):
        rw.LambdaMART(rounds=2).fit(binned)
    with pytest.raises(rw.InputError, match=r"made with query_features=\['rank'\], .* query_features=\[\]"):
        rw.RankBoost(rounds=2).fit(binned)
    with pytest.raises(rw.InputError, match=r"category_splits='sets', .* category_splits='thresholds'"):
        rw.MART(rounds=2, query_features=["rank"], category_splits="thresholds").fit(binned)
    limited = rw.BinnedData(tmp_path / "binned", max_memory=124 * len(binned) + 400)
    with pytest.raises(rw.InputError, match="all codes must fit into max_memory"):
        rw.MART(rounds=2, query_features=["rank"]).fit(limited)
    for wrong in (["median"], ["rank", "rank"], "rank"):
        with pytest.raises(rw.InputError, match="query_features must be a list of zscore, rank, minmax"):
            create(query_features=wrong)
    with pytest.raises(rw.InputError, match="category_splits must be sets or thresholds"):
        create(category_splits="one")


def test_query_features_need_the_documents_of_a_query_together(tmp_path):
    data = judged()
    frame(data.take(np.random.default_rng(1).permutation(len(data)))).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(rw.InputError, match="not one after the other, and query_features compare them"):
        rw.BinnedData.create(tmp_path / "a.csv", tmp_path / "out", query_features=["rank"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_values_in_the_order_of_the_input_are_refused(tmp_path):
    data = judged()
    rw.write_letor(data, tmp_path / "all.txt")
    binned = rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "binned")
    ones = np.ones(len(data))
    for values in ({"sample_weight": ones}, {"query_weight": np.ones(40)}, {"start": ones}, {"positions": ones}):
        with pytest.raises(rw.InputError, match=f"{next(iter(values))} follows the order of the input"):
            rw.LambdaMART(rounds=2).fit(binned, **values)
    assert len(rw.LambdaMART().fit(binned).history_) == 200  # without queries held out


@pytest.mark.parametrize(
    "option", ["weight", "label", "qid", "features", "drop", "categorical", "dates", "delimiter"]
)
def test_options_of_tables_are_refused_for_letor_text(option, tmp_path):
    rw.write_letor(judged(), tmp_path / "all.txt")
    with pytest.raises(rw.InputError, match=f"{option} has no effect on .*all.txt, which is read as LETOR"):
        rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "out", **{option: "f1"})


def test_options_of_other_formats_are_refused_for_tables(tmp_path):
    frame(judged()).to_csv(tmp_path / "a.csv", index=False)
    frame(judged()).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(rw.InputError, match=r"n_features has no effect on .*a.csv, which is read as CSV"):
        rw.BinnedData.create(tmp_path / "a.csv", tmp_path / "out", n_features=5)
    with pytest.raises(rw.InputError, match=r"delimiter has no effect on .*a.parquet, which is read as Parquet"):
        rw.BinnedData.create(tmp_path / "a.parquet", tmp_path / "out", delimiter=",")


def test_a_weight_is_one_column(tmp_path):
    frame(judged()).assign(w1=1.0).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(rw.InputError, match=r"Column 'w\*' must have the weight of each document"):
        rw.BinnedData.create(tmp_path / "a.csv", tmp_path / "out", weight="w*")


def test_a_weight_is_no_feature(tmp_path):
    frame(judged()).to_csv(tmp_path / "a.csv", index=False)
    create = partial(rw.BinnedData.create, tmp_path / "a.csv", tmp_path / "out", weight="f1")
    for asked in ({"features": ["f0", "f1"]}, {"categorical": ["f1"]}, {"dates": ["f1"]}):
        with pytest.raises(rw.InputError, match="Column 'f1' holds the weights; it cannot be a feature too"):
            create(**asked)
    assert create(features=["f[01]"]).data.feature_names == ("f0",)  # as with a column of labels


@pytest.mark.parametrize("weight", [None, -1.0, np.inf])
def test_what_is_no_weight_is_refused(weight, tmp_path):
    table = frame(judged()).assign(w=1.0)
    table.loc[3, "w"] = weight
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(rw.InputError, match="Column 'w' must have the weight of each document"):
        rw.BinnedData.create(tmp_path / "a.csv", tmp_path / "out", weight="w")


@pytest.mark.parametrize("kind", ["letor", "letor.gz", "csv", "parquet"])
def test_formats_files_and_orders_give_the_same_bytes(kind, tmp_path):
    data = judged()
    whole = tmp_path / "whole.txt"
    rw.write_letor(data, whole)
    first = rw.BinnedData.create(whole, tmp_path / "a", n_features=5)
    order = np.argsort(
        np.random.default_rng(3).permutation(40)[data.qid], kind="stable"
    )  # queries in another order
    for number, rows in enumerate(np.array_split(order, [7, 60, 61])):  # queries straddle files
        part = data.take(rows)
        if kind.startswith("letor"):
            rw.write_letor(part, tmp_path / f"part-{number}.{kind.replace('letor', 'txt')}")
        elif kind == "csv":
            frame(part).to_csv(tmp_path / f"part-{number}.csv", index=False)
        else:
            frame(part).to_parquet(tmp_path / f"part-{number}.parquet")
    pattern = tmp_path / f"part-*.{kind.replace('letor', 'txt')}"
    options = {"n_features": 5} if kind.startswith("letor") else {}
    other = rw.BinnedData.create(pattern, tmp_path / "b", **options)
    assert len(other) == len(first)
    for name in ("labels", "sizes", "rows", "edges", "frequencies", "column1", "missing"):
        one, two = (binned._file._entries[name] for binned in (first, other))
        assert one.shape == two.shape
        size = int(np.prod(one.shape)) * np.dtype(one.dtype).itemsize
        contents = [
            binned._file._content[entry.offset : entry.offset + size]
            for binned, entry in ((first, one), (other, two))
        ]
        assert contents[0] == contents[1], name


@pytest.mark.parametrize("suffix", ["txt", "txt.gz"])
def test_letor_files_of_different_width_give_the_same_bytes_in_any_order(suffix, tmp_path):
    parts = judged(), judged(30, seed=2, n_features=7), judged(30, seed=3, n_features=3)
    wide = []
    for number, part in enumerate(parts):
        rw.write_letor(rw.RankingData(part.X, part.y, part.qid + 100 * number), tmp_path / f"{number}.{suffix}")
        X = np.pad(part.X, ((0, 0), (0, 7 - part.n_features)))
        wide.append(rw.RankingData(X, part.y, part.qid + 100 * number))
    rw.write_letor(rw.concat(*wide), tmp_path / "all.txt")
    rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "expected")
    for order in ("012", "120", "201"):
        files = [tmp_path / f"{number}.{suffix}" for number in order]
        rw.BinnedData.create(files, tmp_path / "out")
        assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
        with pytest.raises(rw.InputError, match=r"1\.txt.* has 7 features, more than the 6 expected"):
            rw.BinnedData.create(files, tmp_path / "out", n_features=6)


@pytest.mark.parametrize("empty", ["0", "5"])
@pytest.mark.parametrize("groups", [0, 1])
def test_parquet_files_without_rows_change_nothing(groups, empty, tmp_path):
    (tmp_path / "parts").mkdir()
    frame(judged()).to_parquet(tmp_path / "parts" / "3.parquet", index=False)
    rw.BinnedData.create(tmp_path / "parts", tmp_path / "expected")
    table = pyarrow.parquet.read_table(tmp_path / "parts" / "3.parquet").slice(0, 0)
    with pyarrow.parquet.ParquetWriter(tmp_path / "parts" / f"{empty}.parquet", table.schema) as writer:
        for _ in range(groups):
            writer.write_table(table)
    rw.BinnedData.create(tmp_path / "parts", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize("features", [None, ["year", "f[12]"]])
def test_columns_that_folders_name_are_read(features, tmp_path):
    table = frame(judged())
    table["year"], table["market"] = 2024 + table["qid"] % 3, np.where(table["qid"] % 2, "de", "fr")
    pyarrow.parquet.write_to_dataset(pyarrow.table(table), tmp_path / "parts", ["market", "year"])
    read = {"categorical": "market", "features": features}
    data = rw.read_parquet(tmp_path / "parts", **read)
    ranker = rw.MART(rounds=3)
    expected = saved(ranker.fit(data), tmp_path / "a")
    for number, paths in enumerate([tmp_path / "parts", sorted((tmp_path / "parts").rglob("*.parquet"))]):
        binned = rw.BinnedData.create(paths, tmp_path / f"{number}.binned", category_splits="sets", **read)
        assert binned.data.feature_names == data.feature_names
        assert {"year", "market=de"} <= set(data.feature_names)
        assert saved(ranker.fit(binned), tmp_path / "b") == expected


@pytest.mark.filterwarnings("ignore:Columns that are not used")
@pytest.mark.parametrize(
    ("folders", "categorical", "own"),
    [
        (["v=1", "v=__HIVE_DEFAULT_PARTITION__"], [], {}),
        (["v=007", "v=x"], ["v"], {}),
        (["v=7", "v=x"], [], {}),
        (["v=1", "."], [], {}),
        (["v=1", "v=2"], [], {"v": np.int32(5)}),
    ],
)
def test_columns_that_folders_name_are_those_of_all_files_together(folders, categorical, own, tmp_path):
    table = frame(judged()).assign(**own)
    for number, folder in enumerate(folders):
        (tmp_path / "parts" / folder).mkdir(parents=True, exist_ok=True)
        part = table[table["qid"] % len(folders) == number]
        part.to_parquet(tmp_path / "parts" / folder / f"{number}.parquet", index=False)
    data = rw.read_parquet(tmp_path / "parts", categorical=categorical)
    binned = rw.BinnedData.create(tmp_path / "parts", tmp_path / "out", categorical=categorical)
    assert binned.data.feature_names == data.feature_names
    model = rw.MART(rounds=3).fit(data).model_
    assert saved(rw.MART(rounds=3).fit(binned), tmp_path / "a") == saved(
        rw.MART(rounds=3).fit(data), tmp_path / "b"
    )
    assert rw.FileDocuments(tmp_path / "parts").predict(model).tobytes() == model.predict(data).tobytes()


def test_hidden_files_are_not_read(tmp_path):
    rw.write_letor(judged(), tmp_path / "a")
    (tmp_path / ".a.swp").write_text("half written")
    assert len(rw.BinnedData.create(tmp_path / "*", tmp_path / "out")) == len(judged())


def test_documents_of_a_query_may_be_anywhere(tmp_path):
    data = judged()
    rw.write_letor(data, tmp_path / "sorted.txt")
    rw.write_letor(data.take(np.random.default_rng(1).permutation(len(data))), tmp_path / "shuffled.txt")
    for name in ("sorted", "shuffled"):
        rw.BinnedData.create(tmp_path / f"{name}.txt", tmp_path / name, n_features=5)
    assert (tmp_path / "sorted").read_bytes() == (tmp_path / "shuffled").read_bytes()


@given(SIZES, st.data())
def test_blocks_of_whole_queries_hold_the_same_documents(sizes, data):
    qid = np.repeat(np.arange(len(sizes)), sizes)
    documents = rw.RankingData(np.arange(len(qid), dtype=np.float32)[:, None], np.zeros(len(qid)), qid)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(qid) - 1)), max_size=4)))
    parts = [documents.take(rows) for rows in np.split(np.arange(len(qid)), cuts) if len(rows)]
    whole = list(whole_queries(parts))
    np.testing.assert_array_equal(np.concatenate([block.X for block in whole]), documents.X)
    assert sum(len(block.groups) for block in whole) == len(sizes)


def test_query_ids_that_look_like_integers_in_one_block_only(tmp_path):
    lines = [f"{row % 2} qid:{row // 10 if row < 60 else f'q{row // 10}'} 1:{row}" for row in range(100)]
    (tmp_path / "mixed.txt").write_text("\n".join(lines))
    assert len(rw.BinnedData.create(tmp_path / "mixed.txt", tmp_path / "mixed").data.groups) == 10


def test_the_range_of_features_and_the_names_are_kept(tmp_path):
    data = judged()
    frame(data).to_parquet(tmp_path / "all.parquet")
    binned = rw.BinnedData.create(tmp_path / "all.parquet", tmp_path / "all.binned")
    assert binned.data.feature_names == tuple(f"f{number}" for number in range(5))
    ranges = rw.TrainingSet(data).ranges
    np.testing.assert_array_equal(binned.ranges.minimum, ranges.minimum)
    np.testing.assert_array_equal(binned.ranges.missing, ranges.missing)
    assert rw.LambdaMART(rounds=2).fit(binned).feature_names_in_.tolist() == list(binned.data.feature_names)


def test_what_columns_were_used_for_is_kept(tmp_path):
    with_categories(judged()).assign(docid=range(237), url="u").to_parquet(tmp_path / "all.parquet")
    options = {"categorical": ["shop"], "drop": ["colour", "url"], "weight": "weight"}
    columns = rw.BinnedData.create(tmp_path / "all.parquet", tmp_path / "out", **options).data.columns
    assert (columns.label, columns.qid, columns.docid) == ("label", "qid", "docid")
    assert columns.features == ("f0", "f1", "f2", "f3", "f4", "shop")
    assert columns.categorical == ("shop",)
    assert columns.not_used == {"colour": "dropped", "url": "dropped", "weight": "weight of documents"}
    rw.write_letor(judged(), tmp_path / "all.txt")
    assert rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "out").data.columns is None


def test_binned_data_are_pickled_as_their_path(tmp_path):
    rw.write_letor(judged(), tmp_path / "all.txt")
    binned = rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "all.binned")
    assert repr(pickle.loads(pickle.dumps(binned))) == repr(binned)


def test_codes_in_files_are_those_of_the_slow_twin():
    X = judged().X
    edges = [slow.find_edges(column, 9) for column in X.T.tolist()]
    binning = _native.Binning(edges, np.zeros((5, 256), np.uint32), False, [])
    codes = binning.encode(X, 2)
    np.testing.assert_array_equal(codes, slow.encode(X, edges))
    order = np.random.default_rng(0).permutation(len(X))
    columns, rows = binning.arrange(codes, order, 2)
    np.testing.assert_array_equal(columns, codes[order].T)
    np.testing.assert_array_equal(rows, codes[order])


# Mistakes


def test_wrong_arrays_of_codes_are_refused():
    binning = _native.Binning([[0.5], []], np.zeros((2, 256), np.uint32), False, [])
    columns, rows = np.zeros((2, 4), np.uint8), np.zeros(3 * 2 + _native.ROW_PADDING, np.uint8)
    assert binning.matrix(columns, rows, 3, 0, NO_LEVELS).n_rows == 3
    for wrong in (
        (columns[:1], rows, 3),
        (columns, rows, 4),
        (columns, rows[:-1].copy(), 3),
        (columns[:, :2].copy(), rows, 3),
    ):
        with pytest.raises(ValueError, match="must"):
            binning.matrix(*wrong, 0, NO_LEVELS)
    binning = _native.Binning([[0.5], []], np.zeros((2, 256), np.uint32), False, [[], [2, 0]])
    for levels in ([[0, 0]], [[0, 0, 0]], [[0, 0, 2]], [[0, 1, 0]], [[0, 0, 2**32 - 1]] * 2):
        with pytest.raises(ValueError, match="level"):
            binning.matrix(columns, rows, 3, 0, np.array(levels, np.uint32))
    with pytest.raises(ValueError, match="blocks"):
        binning.matrix(columns, rows, 3, 2, np.array([[0, 0, 2**32 - 1]], np.uint32))
    with pytest.raises(ValueError, match="256 frequencies"):
        _native.Binning([[0.5]], np.zeros((1, 255), np.uint32), True, [])
    for wrong, rows_by_level in (([[0.5], []], [[3]]), ([[0.5], []], [[3], []]), ([[0.5]], [[], [3]])):
        with pytest.raises(ValueError, match=r"rows by level|no edges"):
            _native.Binning(wrong, np.zeros((len(wrong), 256), np.uint32), False, rows_by_level)
    with pytest.raises(ValueError, match="one column per feature"):
        binning.encode(np.zeros((3, 1), np.float32), 1)
    with pytest.raises(ValueError, match="out of range"):
        binning.arrange(np.zeros((3, 2), np.uint8), np.array([3]), 1)


def test_rankers_that_need_values_say_so(tmp_path):
    rw.write_letor(judged(), tmp_path / "all.txt")
    binned = rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "all.binned")
    for ranker in (rw.AdaRank(), rw.RankSVM(), rw.ListNet(), rw.LambdaMART(all_thresholds=True)):
        with pytest.raises(rw.InputError, match=r"Binned data hold bins of features, .* without all_thresholds"):
            ranker.fit(binned)


def test_other_bins_than_those_of_the_file_are_refused(tmp_path):
    rw.write_letor(judged(), tmp_path / "all.txt")
    binned = rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "all.binned", max_bins=9)
    with pytest.raises(rw.InputError, match=r"was made with max_bins=9, .* asks for max_bins=255"):
        rw.LambdaMART(rounds=2).fit(binned)
    rw.LambdaMART(rounds=2, max_bins=9).fit(binned)


def test_any_changed_byte_of_codes_is_noticed(tmp_path):
    rw.write_letor(judged(), tmp_path / "all.txt")
    binned = rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "all.binned")
    content = bytearray((tmp_path / "all.binned").read_bytes())
    content[binned._file._entries["rows"].offset + 3] ^= 1
    (tmp_path / "all.binned").write_bytes(content)
    with pytest.raises(rw.InputError, match=r"its array rows does not match its checksum; bin the files again"):
        rw.LambdaMART(rounds=2).fit(rw.BinnedData(tmp_path / "all.binned"))
    (tmp_path / "all.binned").write_bytes(content[:-7])
    with pytest.raises(rw.InputError, match="is cut short: bin the files again"):
        rw.BinnedData(tmp_path / "all.binned")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda table: table.rename(columns={"f4": "other"}), "f4, other"),
        (lambda table: table.assign(extra=1.5), "extra"),
        (lambda table: table.assign(extra="text"), "extra"),
        (lambda table: table.drop(columns="f2"), "f2"),
        (lambda table: table.drop(columns="label"), "label"),
        (lambda table: table.assign(f2="text"), "f2"),
    ],
)
def test_files_whose_columns_differ_are_refused_in_any_order(change, names, kind, tmp_path):
    tables = {"a": frame(judged()), "b": change(frame(judged())), "c": frame(judged())}
    for name, table in tables.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        table.to_parquet(tmp_path / f"{name}.parquet")
    a, b, c = (tmp_path / f"{name}.{kind}" for name in tables)
    for files, sentence in (([a, c, b], f"{b} and {a} differ"), ([b, a, c], f"{a} and {b} differ")):
        with pytest.raises(rw.InputError, match=f"{sentence} in the columns {names}; name those to learn from"):
            rw.BinnedData.create(files, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_beside_given_features_may_differ(kind, tmp_path):
    tables = [frame(judged()).assign(note="text"), frame(judged(seed=2).take(np.arange(20)))]
    tables[1]["qid"] += 100
    for number, table in enumerate(tables):
        table.to_csv(tmp_path / f"{number}.csv", index=False)
        table.to_parquet(tmp_path / f"{number}.parquet")
    create = partial(rw.BinnedData.create, tmp_path / f"?.{kind}", tmp_path / "out")
    assert create(features=["f*"], drop=["f1"]).data.feature_names == ("f0", "f2", "f3", "f4")
    with pytest.raises(rw.InputError, match=r"1\.\w+: There is no column 'note'"):
        create(features=["f1", "note"], categorical=["note"])
    with pytest.raises(rw.InputError, match=r"0\.\w+: No column matches 'g\*'; the table has qid, label, f0, f1"):
        create(features=["g*"])


def test_files_that_cannot_be_read_together_are_refused(tmp_path):
    data = judged()
    frame(data).to_csv(tmp_path / "a.csv", index=False)
    rw.write_letor(data, tmp_path / "c.txt")
    with pytest.raises(rw.InputError, match="Files of several formats cannot be read together"):
        rw.BinnedData.create([tmp_path / "a.csv", tmp_path / "c.txt"], tmp_path / "out")
    with pytest.raises(rw.InputError, match=r"There is no file .*d-\*.txt"):
        rw.BinnedData.create(tmp_path / "d-*.txt", tmp_path / "out")
    with pytest.raises(rw.InputError, match=r"holds no .parquet files; name others by a pattern, such as "):
        rw.BinnedData.create(tmp_path, tmp_path / "out")
    with pytest.raises(rw.InputError, match=r"a.csv is given more than once"):
        rw.BinnedData.create([tmp_path / "a.csv", tmp_path / "[a].csv"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("files", ["a.csv", "*.csv"])
def test_files_that_are_read_are_not_overwritten(files, tmp_path):
    frame(judged()).to_csv(tmp_path / "a.csv", index=False)
    before = (tmp_path / "a.csv").read_bytes()
    with pytest.raises(rw.InputError, match=r"a.csv is one of the files to read"):
        rw.BinnedData.create(tmp_path / files, tmp_path / "." / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == before


def test_categories_of_parquet_files_join_the_features_that_are_given(tmp_path):
    data = frame(judged())
    data.assign(shop=[f"s{row % 3}" for row in range(len(data))]).to_parquet(tmp_path / "a.parquet")
    options = {"features": ["f0", "shop"], "categorical": ["shop"]}
    binned = rw.BinnedData.create(tmp_path / "a.parquet", tmp_path / "out", **options)
    assert [category.name for category in binned.data.categories] == ["shop"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "qid,f\n1,2\n", "There is no column 'label'"),
        ("a.csv", "label,f\n1,2\n", "There is no column 'qid'"),
        ("a.csv", "label,qid,f\n1,1,2\n,1,3\n", "line 3: no value in column 'label'"),
        ("a.csv", "label,qid,f\n1,1,2\n1,,3\n", "line 3: no value in column 'qid'"),
        ("a.csv", "label,qid,f\n", "The table has no rows"),
        ("a.csv", "", "is empty: expected a line of column names"),
        ("a.txt", "1 qid:1 1:2\nqid:1 1:2\n", "line 2: expected a label"),
        ("a.txt", "1 qid:1 1:2\n1 1:2\n", "line 2: expected qid:ID"),
        ("a.txt", "1 qid:1\n0 qid:1\n", "The files hold no features"),
        ("a.txt", "", "holds no documents"),
    ],
)
def test_missing_labels_ids_and_features_are_one_sentence(name, content, sentence, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(rw.InputError, match=sentence):
        rw.BinnedData.create(tmp_path / name, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_table_without_rows_is_named_wherever_it_stands(tmp_path):
    for number in range(2):
        (tmp_path / f"{number}.csv").write_text("label,qid,f,title\n1,1,2,x\n0,1,3,y\n")
    for name in ("a.csv", "0.csv"):
        (tmp_path / name).write_text("label,qid,f,title\n")
        with pytest.raises(rw.InputError, match=rf"{name}: The table has no rows"):
            rw.BinnedData.create(tmp_path / "*.csv", tmp_path / "out")
        (tmp_path / name).unlink()


def test_files_of_another_version_are_refused(tmp_path, monkeypatch):
    rw.write_letor(judged(), tmp_path / "all.txt")
    rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(binned_data, "VERSION", 99)
        with pytest.raises(rw.InputError, match=r"has version \d+, .* reads 99: bin the files again"):
            rw.BinnedData(tmp_path / "out")
    monkeypatch.setattr(array_files, "FORMAT_VERSION", 99)
    with pytest.raises(rw.InputError, match=r"has format \d+, .* reads format 99: bin the files again"):
        rw.BinnedData(tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("bucket", [2_000, 1 << 30])
def test_a_full_disk_leaves_the_file_as_it_was(bucket, tmp_path):
    rw.write_letor(judged(400), tmp_path / "all.txt")
    rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "out", max_bins=9)
    before = (tmp_path / "out").read_bytes()
    binning = f"""
import resource, rankwright as rw
from rankwright.training import file_codes
file_codes.BUCKET_BYTES, file_codes.BUCKET_FRACTION = {bucket}, 0
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    rw.BinnedData.create({str(tmp_path / "all.txt")!r}, {str(tmp_path / "out")!r})
except rw.InputError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", binning], capture_output=True, text=True, check=True).stdout
    assert said == f"{tmp_path / 'out'} cannot be written: File too large.\n"
    assert (tmp_path / "out").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.txt", "out"]


@pytest.mark.parametrize("bucket_bytes", [1500, 1 << 30])
def test_what_a_killed_process_left_beside_the_file_is_removed(bucket_bytes, tmp_path, monkeypatch):
    monkeypatch.setattr(file_codes, "BUCKET_BYTES", bucket_bytes)
    rw.write_letor(judged(), tmp_path / "all.txt")
    (tmp_path / ".binning-old").mkdir()
    (tmp_path / ".binning-old" / "0").write_bytes(b"records")
    rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.txt", "out"]


def test_a_query_may_be_larger_than_several_buckets(tmp_path):
    random = np.random.default_rng(1)
    large = rw.RankingData(random.random((480, 5)), random.integers(0, 3, 480), np.repeat(range(3), 160))
    rw.write_letor(large, tmp_path / "all.txt")
    binned = rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "out")
    ranker = rw.LambdaMART(rounds=3)
    assert saved(ranker.fit(binned), tmp_path / "a") == saved(ranker.fit(large), tmp_path / "b")


def test_a_failure_leaves_nothing_behind(tmp_path):
    (tmp_path / "bad.txt").write_text("\n".join(f"1 qid:{row} 1:{row}" for row in range(80)) + "\n1 quid:7 1:2\n")
    with pytest.raises(rw.InputError, match="line 81: expected qid:ID"):
        rw.BinnedData.create(tmp_path / "bad.txt", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


def test_files_that_change_between_the_passes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(file_survey, "available_memory", lambda: 0)  # so that they are read twice
    rw.write_letor(judged(), tmp_path / "all.txt")

    def grow(number, _documents):
        if number == 1:
            with (tmp_path / "all.txt").open("a") as file:
                file.write("1 qid:new 1:1 2:2 3:3 4:4 5:5\n")

    with pytest.raises(rw.InputError, match=r"all.txt changed while it was read"):
        rw.BinnedData.create(tmp_path / "all.txt", tmp_path / "out", on_block=grow)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("column", ["w", "label", "f1", "unused", None])
def test_any_change_between_the_passes_is_refused(column, tmp_path, monkeypatch):
    monkeypatch.setattr(file_survey, "available_memory", lambda: 0)
    table = frame(judged()).assign(w=1.0, unused="text")
    path = tmp_path / "a.csv"
    table.to_csv(path, index=False)

    def change(number, _documents):
        if number == 1 and column is None:
            path.unlink(missing_ok=True)
        elif number == 1:
            table.assign(**{column: 2.0}).to_csv(path, index=False)

    sentences = r"a.csv changed while it was read" if column else r"a.csv changed while|There is no file .*a.csv"
    with pytest.raises(rw.InputError, match=sentences):
        rw.BinnedData.create(path, tmp_path / "out", weight="w", drop=["unused"], on_block=change)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_gone_after_it_was_kept_in_memory_does_not_matter(tmp_path):
    path = tmp_path / "a.csv"
    frame(judged()).to_csv(path, index=False)
    rw.BinnedData.create(path, tmp_path / "expected")

    def remove(number, _documents):
        if number == 2:
            path.unlink(missing_ok=True)

    rw.BinnedData.create(path, tmp_path / "out", on_block=remove)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize("ranker", [*RANKERS[:4], rw.LambdaMART(rounds=4, coarse=True, max_leaves=9)])
@pytest.mark.parametrize("left", [40, 400])
def test_blocks_within_a_memory_limit_give_the_same_bytes(ranker, left, tmp_path):
    data = judged()
    rw.write_letor(data, tmp_path / "judged.txt")
    rw.BinnedData.create(tmp_path / "judged.txt", tmp_path / "binned", coarse=bool(ranker.coarse))
    limit = 124 * len(data) + left
    within = rw.BinnedData(tmp_path / "binned", max_memory=limit)
    assert within.binned(255, coarse=bool(ranker.coarse)).matrix.block_rows > 0
    model = saved(ranker.fit(within), tmp_path / "within")
    if isinstance(ranker, rw.LambdaMART | rw.MART):
        assert all(ended.diagnostics["bytes_read"] > 0 for ended in ranker.history_.rounds)
    assert model == saved(ranker.fit(rw.BinnedData(tmp_path / "binned")), tmp_path / "whole")


def test_too_little_memory_is_refused(tmp_path):
    rw.write_letor(judged(), tmp_path / "judged.txt")
    rw.BinnedData.create(tmp_path / "judged.txt", tmp_path / "binned")
    with pytest.raises(rw.InputError, match="max_memory must be at least"):
        rw.MART().fit(rw.BinnedData(tmp_path / "binned", max_memory=1000))
