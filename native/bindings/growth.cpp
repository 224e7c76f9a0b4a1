#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include "arrays.hpp"
#include "rankwright/binning.hpp"
#include "rankwright/grow.hpp"
#include "rankwright/grow_vector.hpp"
#include "rankwright/hashing.hpp"
#include "rankwright/vectors.hpp"
#include "trees.hpp"

namespace rankwright::bindings {
namespace {

std::vector<std::vector<float>> all_edges(Matrix<float> values, Vector<std::int64_t> sample, int max_bins,
                                          int n_threads) {
    checked_rows(sample, values.shape(0));
    require(2 <= max_bins && max_bins <= kMostBins, "max_bins must be from 2 to 255");
    nb::gil_scoped_release release;
    return find_all_edges({values.data(), values.size()}, values.shape(1), view(sample), max_bins, n_threads);
}

void check_edges(const std::vector<std::vector<float>>& edges, std::size_t n_features) {
    require(edges.size() == n_features, "there must be edges for every feature");
    for (const std::vector<float>& own : edges) {
        require(own.size() < static_cast<std::size_t>(kMostBins), "a feature has too many edges");
        for (std::size_t i = 0; i < own.size(); ++i)
            require(own[i] - own[i] == 0.0f && (i == 0 || own[i - 1] < own[i]), "edges must be finite and ascend");
    }
}

BinnedMatrix encoded(Matrix<float> values, Vector<std::int64_t> rows, std::vector<std::vector<float>> edges,
                     bool coarse, int n_threads) {
    check_edges(edges, values.shape(1));
    checked_rows(rows, values.shape(0));
    require(rows.size() < (std::size_t{1} << 32), "there are too many rows");
    nb::gil_scoped_release release;
    return encode({values.data(), values.size()}, values.shape(1), view(rows), std::move(edges), coarse,
                  n_threads);
}

// For tests: one feature's codes, by the vector path asked for.
auto column_codes(Vector<float> values, std::vector<float> edges, int path) {
    check_edges({edges}, 1);
    require(0 <= path && path <= static_cast<int>(widest_path()), "this processor has no such path");
    edges.resize(kEdgeStride, INFINITY);
    std::vector<float> column(view(values).begin(), view(values).end());
    column.resize((column.size() + kEncodeRows - 1) / kEncodeRows * kEncodeRows);
    std::vector<std::uint8_t> codes(column.size());
    for (std::size_t row = 0; row < column.size(); row += kEncodeRows)
        encode_column(column.data() + row, edges.data(), codes.data() + row, static_cast<VectorPath>(path));
    codes.resize(values.size());
    return copied(codes);
}

// For tests: the gains of splits with these sums on the left, by the vector path asked for.
auto gains_of(Vector<std::int64_t> left, std::int64_t all, double gradient_step, double weight_step, double l2,
              double min_weight, double whole, int path) {
    require(0 <= path && path <= static_cast<int>(widest_path()), "this processor has no such path");
    std::vector<std::int64_t> sums(view(left).begin(), view(left).end());
    sums.resize((sums.size() + kGainLanes - 1) / kGainLanes * kGainLanes);
    std::vector<double> gains(sums.size());
    split_gains(sums.data(), static_cast<std::int64_t>(left.size()),
                {all, gradient_step, weight_step, l2, min_weight, whole}, gains.data(),
                static_cast<VectorPath>(path));
    gains.resize(left.size());
    return copied(gains);
}

auto row_hashes(Matrix<float> values, int n_threads) {
    Output<std::uint64_t> hashes(values.shape(0));
    {
        nb::gil_scoped_release release;
        hash_rows({values.data(), values.size()}, values.shape(1), n_threads, hashes.span());
    }
    return hashes.numpy();
}

auto codes_of(const BinnedMatrix& binned) {
    Output<std::uint8_t, 2> codes({binned.n_rows, binned.n_features});
    for (std::size_t row = 0; row < binned.n_rows; ++row)
        for (std::size_t feature = 0; feature < binned.n_features; ++feature)
            codes.span()[row * binned.n_features + feature] = binned.column(feature)[row];
    return codes.numpy();
}

// For tests: each feature's level for every code.
auto levels_of(const BinnedMatrix& binned) {
    Output<std::uint8_t, 2> levels({binned.n_features, std::size_t{256}});
    for (std::size_t feature = 0; feature < binned.n_features; ++feature)
        std::ranges::copy(binned.places[feature].level,
                          levels.span().begin() + static_cast<std::ptrdiff_t>(feature * 256));
    return levels.numpy();
}

// Ascending numbers below n.
std::span<const std::uint32_t> checked_subset(const Vector<std::uint32_t>& members, std::size_t n,
                                              const char* sentence) {
    const auto subset = view(members);
    std::size_t falls = 0;
    for (std::size_t i = 1; i < subset.size(); ++i) falls += subset[i - 1] >= subset[i];
    require(falls == 0 && (subset.empty() || subset.back() < n), sentence);
    return subset;
}

void check_finite(Doubles values, std::size_t n, const char* sentence) {
    require(values.size() == n, sentence);
    // Infinity and NaN have all bits of the exponent set. Whole numbers need no order, so that many are seen at
    // once.
    constexpr std::uint64_t kExponent = 0x7ff0000000000000;
    std::uint64_t bad = 0;
    for (double value : values) bad |= (std::bit_cast<std::uint64_t>(value) & kExponent) == kExponent;
    require(!bad, sentence);
}

void check_weights(Doubles hessian, Doubles sample_weights, std::size_t n_drawn) {
    if (!sample_weights.empty())
        check_finite(sample_weights, n_drawn, "there must be a finite weight for each row drawn");
    for (Doubles values : {hessian, sample_weights})
        require(values.empty() || std::ranges::min(values) >= 0.0, "hessians and weights must not be negative");
}

// One thread grows in a workspace at a time: the GIL, released meanwhile, no longer sees to that.
struct GuardedWorkspace : GrowthWorkspace {
    std::mutex turn;
};

nb::dict arrays_of(const GrownTree& tree) {
    nb::dict arrays = shape_arrays(tree);
    arrays["leaf_value"] = copied(tree.leaf_value);
    arrays["cover"] = copied(tree.cover);
    return arrays;
}

nb::tuple grown(const BinnedMatrix& binned, Vector<double> gradient, Vector<double> hessian,
                Vector<std::uint32_t> sample, Vector<double> sample_weights, Vector<std::uint32_t> features,
                Vector<std::int8_t> monotone, std::int32_t max_leaves, std::int64_t min_documents,
                double min_weight, double l2, double min_gain, std::int32_t levels, int n_threads,
                GuardedWorkspace& workspace) {
    const GrowthTask task{view(gradient),
                          view(hessian),
                          checked_subset(sample, binned.n_rows, "sample must ascend and exist"),
                          view(sample_weights),
                          checked_subset(features, binned.n_features, "features must ascend and exist"),
                          view(monotone)};
    for (Doubles values : {task.gradient, task.hessian})
        check_finite(values, binned.n_rows, "there must be finite numbers, one a row");
    check_weights(task.hessian, task.sample_weights, task.sample.size());
    require(monotone.size() == 0 || monotone.size() == binned.n_features,
            "monotone must have one value a feature");
    require(max_leaves >= 1 && min_documents >= 1 && levels >= 1, "limits must be at least 1");
    require(levels <= kMostLevels, "levels must be at most 127");
    require(min_weight >= 0.0 && l2 >= 0.0 && min_gain >= 0.0, "limits must not be negative");
    const GrowthLimits limits{max_leaves, min_documents, min_weight, l2, min_gain, levels};
    std::unique_lock turn(workspace.turn, std::try_to_lock);
    require(turn.owns_lock(), "another thread is using this workspace");
    Output<double> outputs(binned.n_rows);
    GrownTree tree;
    {
        nb::gil_scoped_release release;
        tree = grow_tree(binned, task, limits, n_threads, workspace, outputs.span());
    }
    return nb::make_tuple(arrays_of(tree), outputs.numpy());
}

struct GuardedVectorWorkspace : VectorWorkspace {
    std::mutex turn;
};

nb::tuple grown_vector(const BinnedMatrix& binned, Matrix<double> gradient, Matrix<double> hessian,
                       Vector<std::uint32_t> sample, Vector<double> sample_weights, Vector<std::uint32_t> features,
                       std::int32_t max_leaves, std::int64_t min_documents, double min_weight, double l2,
                       double min_gain, std::int32_t levels, int n_threads, GuardedVectorWorkspace& workspace) {
    const std::size_t n_classes = gradient.shape(0);
    require(n_classes >= 1 && n_classes <= kMostClasses, "there must be from 1 to 256 classes");
    for (const Matrix<double>& values : {gradient, hessian}) {
        require(values.shape(0) == n_classes, "there must be a row of numbers for every class");
        check_finite({values.data(), values.size()}, n_classes * binned.n_rows,
                     "there must be finite numbers, one a row and class");
    }
    const VectorGrowthTask task{n_classes,
                                {gradient.data(), gradient.size()},
                                {hessian.data(), hessian.size()},
                                checked_subset(sample, binned.n_rows, "sample must ascend and exist"),
                                view(sample_weights),
                                checked_subset(features, binned.n_features, "features must ascend and exist")};
    check_weights(task.hessian, task.sample_weights, task.sample.size());
    require(max_leaves >= 1 && min_documents >= 1 && levels >= 1, "limits must be at least 1");
    require(levels <= kMostLevels, "levels must be at most 127");
    require(min_weight >= 0.0 && l2 >= 0.0 && min_gain >= 0.0, "limits must not be negative");
    const GrowthLimits limits{max_leaves, min_documents, min_weight, l2, min_gain, levels};
    std::unique_lock turn(workspace.turn, std::try_to_lock);
    require(turn.owns_lock(), "another thread is using this workspace");
    Output<double, 2> outputs({n_classes, binned.n_rows});
    GrownTree tree;
    {
        nb::gil_scoped_release release;
        tree = grow_vector_tree(binned, task, limits, n_threads, workspace, outputs.span());
    }
    return nb::make_tuple(arrays_of(tree), outputs.numpy());
}

}  // namespace

void bind_growth(nb::module_& m) {
    m.def("find_all_edges", &all_edges, nb::arg("values"), nb::arg("sample"), nb::arg("max_bins"),
          nb::arg("n_threads"));
    nb::class_<BinnedMatrix>(m, "BinnedMatrix")
        .def_ro("n_rows", &BinnedMatrix::n_rows)
        .def_ro("n_features", &BinnedMatrix::n_features)
        .def_ro("edges", &BinnedMatrix::edges)
        .def_ro("n_bytes", &BinnedMatrix::n_bytes)
        .def_ro("coarse", &BinnedMatrix::coarse)
        .def("codes", &codes_of)
        .def("levels", &levels_of);
    m.def("encode", &encoded, nb::arg("values"), nb::arg("rows"), nb::arg("edges"), nb::arg("coarse"),
          nb::arg("n_threads"));
    m.def("encode_column", &column_codes, nb::arg("values"), nb::arg("edges"), nb::arg("path"));
    m.def("split_gains", &gains_of, nb::arg("left"), nb::arg("both"), nb::arg("gradient_step"),
          nb::arg("weight_step"), nb::arg("l2"), nb::arg("min_weight"), nb::arg("whole"), nb::arg("path"));
    m.def("hash_rows", &row_hashes, nb::arg("values"), nb::arg("n_threads"));
    nb::class_<GuardedWorkspace>(m, "GrowthWorkspace").def(nb::init<>());
    m.def("grow_tree", &grown, nb::arg("binned"), nb::arg("gradient"), nb::arg("hessian"), nb::arg("sample"),
          nb::arg("sample_weights"), nb::arg("features"), nb::arg("monotone"), nb::arg("max_leaves"),
          nb::arg("min_documents"), nb::arg("min_weight"), nb::arg("l2"), nb::arg("min_gain"), nb::arg("levels"),
          nb::arg("n_threads"), nb::arg("workspace"));
    nb::class_<GuardedVectorWorkspace>(m, "VectorWorkspace").def(nb::init<>());
    m.def("grow_vector_tree", &grown_vector, nb::arg("binned"), nb::arg("gradient"), nb::arg("hessian"),
          nb::arg("sample"), nb::arg("sample_weights"), nb::arg("features"), nb::arg("max_leaves"),
          nb::arg("min_documents"), nb::arg("min_weight"), nb::arg("l2"), nb::arg("min_gain"), nb::arg("levels"),
          nb::arg("n_threads"), nb::arg("workspace"));
}

}  // namespace rankwright::bindings
