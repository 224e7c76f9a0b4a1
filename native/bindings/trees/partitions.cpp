// Growth on parts of the rows: the rows of one part, and trees whose rows are behind a Python object.
#include <nanobind/stl/vector.h>

#include "bindings/trees/called_rows.hpp"
#include "bindings/trees/growth_arguments.hpp"
#include "bindings/trees/tree_arrays.hpp"
#include "bindings/trees/workspace.hpp"
#include "trees/class_tree.hpp"
#include "trees/leaf_sums.hpp"
#include "trees/partition_rows.hpp"

namespace rankwright::bindings {
namespace {

using Steps2 = Matrix<double>;  // gradient and hessian, one row per class

std::vector<NumberSizes> checked_steps(const Steps2& steps) {
    require(steps.shape(1) == 2, "steps are pairs of numbers");
    std::vector<NumberSizes> sizes;
    for (std::size_t k = 0; k < steps.shape(0); ++k) {
        sizes.push_back({steps.data()[2 * k], steps.data()[2 * k + 1]});
        require(sizes.back().gradient > 0.0 && sizes.back().hessian > 0.0, "steps must be positive");
    }
    return sizes;
}

// A part with the arrays of its tree, which must outlive it.
struct BoundPart {
    BoundPart(const BinnedMatrix& matrix, int n_threads) : rows(matrix, n_threads) {}

    PartitionRows rows;
    Matrix<double> gradient, hessian;
    Array<std::uint32_t> sample, features;
    bool has_begun = false;

    std::uint32_t checked_leaf(std::uint32_t leaf) const {
        require(has_begun && leaf < rows.n_leaves(), "a leaf is out of range");
        return leaf;
    }
};

void begin(BoundPart& part, Matrix<double> gradient, Matrix<double> hessian, Array<std::uint32_t> sample,
           Array<double> sample_weights, Array<std::uint32_t> features, Steps2 steps, Steps2 all_steps,
           bool shared, std::size_t n_leaves) {
    const BinnedMatrix& binned = part.rows.binned();
    require_numbers(binned);
    std::vector<NumberSizes> sizes = checked_steps(steps);
    const std::vector<NumberSizes> all_sizes = checked_steps(all_steps);
    require(!sizes.empty() && (shared || sizes.size() == 1) && sizes.size() <= kMostClasses,
            "there must be one pair of steps per class");
    require(n_leaves >= 1, "a tree has a leaf");
    for (const Matrix<double>& values : {gradient, hessian}) {
        require(values.shape(0) == sizes.size(), "there must be one row of numbers per class");
        check_finite({values.data(), values.size()}, sizes.size() * binned.n_rows,
                     "there must be one finite number per row and class");
    }
    PartTask task{{gradient.data(), gradient.size()},
                  {hessian.data(), hessian.size()},
                  checked_subset(sample, binned.n_rows, kSample),
                  view(sample_weights),
                  checked_subset(features, binned.n_features, kFeatures),
                  std::move(sizes),
                  {},
                  shared};
    check_weights(task.hessian, task.sample_weights, task.sample.size());
    if (!all_sizes.empty()) task.all_steps = all_sizes.front();
    part.gradient = gradient;
    part.hessian = hessian;
    part.sample = sample;
    part.features = features;
    part.has_begun = true;
    nb::gil_scoped_release release;
    part.rows.begin(task, n_leaves);
}

auto root(BoundPart& part) {
    part.checked_leaf(0);
    Output<std::int64_t> histogram(part.rows.histogram_size());
    {
        nb::gil_scoped_release release;
        part.rows.root(histogram.span().data());
    }
    return histogram.numpy();
}

nb::tuple divided(BoundPart& part, Matrix<std::int64_t> divisions) {
    require(divisions.shape(1) == kDivisionColumns, "a division has 7 numbers");
    std::vector<PartDivision> checked;
    std::size_t n_summed = 0;
    for (std::size_t i = 0; i < divisions.shape(0); ++i) {
        const std::int64_t* row = divisions.data() + i * kDivisionColumns;
        const auto leaf = [&](std::size_t column) {
            return part.checked_leaf(
                static_cast<std::uint32_t>(std::clamp<std::int64_t>(row[column], 0, 1 << 30)));
        };
        require(0 <= row[3] && row[3] < static_cast<std::int64_t>(part.rows.binned().n_features),
                "a feature is out of range");
        require(0 <= row[4] && row[4] < kMostBins, "a code is out of range");
        checked.push_back({leaf(0),
                           leaf(1),
                           leaf(2),
                           {static_cast<std::size_t>(row[3]), static_cast<int>(row[4]), row[5] != 0},
                           row[6] != 0,
                           row[6] == 1});
        n_summed += row[6] != 0;
    }
    Output<std::int64_t, 2> sizes({checked.size(), 2}), histograms({n_summed, part.rows.histogram_size()});
    {
        nb::gil_scoped_release release;
        part.rows.divide(checked, sizes.span(), histograms.span().data());
    }
    return nb::make_tuple(sizes.numpy(), histograms.numpy());
}

nb::tuple summed_codes(BoundPart& part, Array<std::uint32_t> leaves, Array<std::uint32_t> features,
                       std::size_t n_counted) {
    require(leaves.size() == features.size(), "there must be one feature per leaf");
    for (const std::uint32_t leaf : view(leaves)) part.checked_leaf(leaf);
    for (const std::uint32_t feature : view(features))
        require(feature < part.rows.binned().n_features, "a feature is out of range");
    Output<std::int64_t, 2> sums({leaves.size(), kCodes}), counts({leaves.size(), kCodes});
    {
        nb::gil_scoped_release release;
        part.rows.sum_codes(view(leaves), view(features), n_counted, sums.span().data(), counts.span().data());
    }
    return nb::make_tuple(sums.numpy(), counts.numpy());
}

auto leaves_of_rows(BoundPart& part, Array<std::uint32_t> leaves) {
    for (const std::uint32_t leaf : view(leaves)) part.checked_leaf(leaf);
    Output<std::uint32_t> leaf_of_row(part.rows.binned().n_rows);
    {
        nb::gil_scoped_release release;
        std::ranges::fill(leaf_of_row.span(), 0);
        part.rows.number_rows(view(leaves), leaf_of_row.span());
    }
    return leaf_of_row.numpy();
}

// Fixed-point sums by leaf, as 64 upper and 64 lower bits.
auto fixed_sums(Array<double> values, Array<std::uint32_t> leaf_of_row, std::size_t n_leaves, int exponent,
                int n_threads) {
    check_finite(view(values), leaf_of_row.size(), "there must be one finite number per row");
    const auto leaves = checked_leaves(leaf_of_row, n_leaves);
    require(exponent >= common_exponent(view(values), 1) && exponent <= 1024, "the exponent is too small");
    Output<std::uint64_t, 2> parts({n_leaves, 2});
    {
        nb::gil_scoped_release release;
        std::vector<FixedSum> sums(n_leaves);
        add_leaf_sums(view(values), leaves, exponent, n_threads, sums);
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
            parts.span()[2 * leaf] = static_cast<std::uint64_t>(sums[leaf] >> 64);
            parts.span()[2 * leaf + 1] = static_cast<std::uint64_t>(sums[leaf]);
        }
    }
    return parts.numpy();
}

auto leaves_by_codes(const BinnedMatrix& binned, Array<std::int32_t> feature, Array<float> threshold,
                     Array<std::uint8_t> missing_left, Array<std::int32_t> left, Array<std::int32_t> right) {
    const std::size_t n = feature.size();
    require(threshold.size() == n && missing_left.size() == n && left.size() == n && right.size() == n,
            "there must be one value per split");
    require_numbers(binned);
    for (std::size_t split = 0; split < n; ++split) {
        require(0 <= view(feature)[split] && static_cast<std::size_t>(view(feature)[split]) < binned.n_features,
                "a feature is out of range");
        for (const std::int32_t child : {view(left)[split], view(right)[split]})
            require(child < 0 ? -1 - child <= static_cast<std::int32_t>(n)
                              : static_cast<std::int32_t>(split) < child && child < static_cast<std::int32_t>(n),
                    "a child is out of range");
    }
    Output<std::uint32_t> leaf_of_row(binned.n_rows);
    {
        nb::gil_scoped_release release;
        find_leaves(binned, {view(feature), view(left), view(right), view(threshold), view(missing_left)},
                    leaf_of_row.span());
    }
    return leaf_of_row.numpy();
}

nb::tuple largest_numbers(Array<double> gradient, Array<double> hessian, Array<std::uint32_t> sample,
                          Array<double> sample_weights) {
    require(gradient.size() == hessian.size(), "there must be one hessian per gradient");
    const auto rows = checked_subset(sample, gradient.size(), kSample);
    require(sample_weights.size() == 0 || sample_weights.size() == rows.size(), "there must be a weight per row");
    const NumberSizes sizes =
        rows.empty() ? NumberSizes() : largest({view(gradient), view(hessian), rows, view(sample_weights)}, 1);
    return nb::make_tuple(sizes.gradient, sizes.hessian);
}

nb::dict grown_remotely(const BinnedMatrix& binned, nb::object parts, std::size_t n_sample, std::size_t n_rest,
                        Array<std::uint32_t> features, Array<std::int8_t> monotone, Steps2 steps, Steps2 all_steps,
                        bool shared, std::int32_t max_leaves, std::int64_t min_documents, double min_hessian,
                        double l2, double min_gain, std::int32_t levels, int n_threads,
                        GuardedWorkspace& workspace, bool symmetric) {
    require_numbers(binned);
    const GrowthLimits limits =
        with_symmetry(checked_limits(max_leaves, min_documents, min_hessian, l2, min_gain, levels), symmetric,
                      binned, view(monotone));
    const std::vector<NumberSizes> sizes = checked_steps(steps), all_sizes = checked_steps(all_steps);
    require(!sizes.empty() && (shared || sizes.size() == 1), "there must be one pair of steps per class");
    GrowthTask task{};
    task.features = checked_subset(features, binned.n_features, kFeatures);
    task.monotone = checked_directions(monotone, binned.n_features);
    task.all_rows_judge = !all_sizes.empty();
    std::vector<ClassSteps> units;
    for (const NumberSizes& size : sizes) units.push_back({size.gradient, size.hessian});
    const std::size_t histogram_size =
        shared ? ClassSearch(binned, task.features, limits, units, wide_width(units.size() + 1)).layout().size()
               : GradientSearch(binned, task, limits, {}, {}).sent_layout().size();
    const std::size_t n_counted = kCountedPerDocument * static_cast<std::size_t>(limits.min_documents);
    CalledRows rows(binned, std::move(parts), n_sample, n_rest, histogram_size, n_counted, task.all_rows_judge);
    const GrownTree tree = grow_alone(workspace, [&] {
        if (shared)
            return grow_remote_class_tree(binned, task.features, limits, std::move(units), rows, n_threads,
                                          workspace);
        return grow_remote_tree(binned, task, limits, sizes.front(),
                                all_sizes.empty() ? NumberSizes() : all_sizes.front(), rows, n_threads, workspace);
    });
    nb::dict arrays = shape_arrays(tree);
    arrays["leaf_value"] = to_numpy(tree.leaf_value);
    return arrays;
}

}  // namespace

void bind_partitions(nb::module_& m) {
    nb::class_<BoundPart>(m, "PartitionRows")
        .def(nb::init<const BinnedMatrix&, int>(), nb::arg("binned"), nb::arg("n_threads"), nb::keep_alive<1, 2>())
        .def("begin", &begin, nb::arg("gradient"), nb::arg("hessian"), nb::arg("sample"),
             nb::arg("sample_weights"), nb::arg("features"), nb::arg("steps"), nb::arg("all_steps"),
             nb::arg("shared"), nb::arg("n_leaves"))
        .def("root", &root)
        .def("divide", &divided, nb::arg("divisions"))
        .def("sum_codes", &summed_codes, nb::arg("leaves"), nb::arg("features"), nb::arg("n_counted"))
        .def("leaf_of_row", &leaves_of_rows, nb::arg("leaves"));
    m.def("fixed_sums", &fixed_sums, nb::arg("values"), nb::arg("leaf_of_row"), nb::arg("n_leaves"),
          nb::arg("exponent"), nb::arg("n_threads"));
    m.def(
        "common_exponent",
        [](Array<double> values, int n_threads) { return common_exponent(view(values), n_threads); },
        nb::arg("values"), nb::arg("n_threads"));
    m.def("largest_numbers", &largest_numbers, nb::arg("gradient"), nb::arg("hessian"), nb::arg("sample"),
          nb::arg("sample_weights"));
    m.def("leaves_by_codes", &leaves_by_codes, nb::arg("binned"), nb::arg("feature"), nb::arg("threshold"),
          nb::arg("missing_left"), nb::arg("left"), nb::arg("right"));
    m.def("quantisation_step", &step_of, nb::arg("largest"), nb::arg("n_rows"), nb::arg("levels"));
    m.def("grow_remote_tree", &grown_remotely, nb::arg("binned"), nb::arg("parts"), nb::arg("n_sample"),
          nb::arg("n_rest"), nb::arg("features"), nb::arg("monotone"), nb::arg("steps"), nb::arg("all_steps"),
          nb::arg("shared"), nb::arg("max_leaves"), nb::arg("min_documents"), nb::arg("min_hessian"),
          nb::arg("l2"), nb::arg("min_gain"), nb::arg("levels"), nb::arg("n_threads"), nb::arg("workspace"),
          nb::arg("symmetric") = false);
}

}  // namespace rankwright::bindings
