#include "trees/partition_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trees/class_tree.hpp"

namespace rankwright {

void PartitionRows::begin(const PartTask& task, std::size_t n_leaves) {
    space_.scratch.resize(1);
    leaves_.assign(n_leaves, {});
    quantise(task);
    task_ = {.gradient = {},
             .hessian = {},
             .sample = task.sample,
             .sample_weights = {},
             .features = task.features,
             .monotone = {},
             .all_rows_judge = task.all_steps.has_value()};
    search_.reset();
    class_search_.reset();
    LocalRows::Fill fill;
    if (task.shared) {
        std::vector<ClassSteps> units;
        for (const NumberSizes& step : task.steps) units.push_back({step.gradient, step.hessian});
        class_search_ =
            std::make_unique<ClassSearch>(binned_, task.features, limits_, std::move(units), space_.wide.width);
        fill = [this](RowList rows, int threads, Packed* histogram) {
            fill_wide_histogram(binned_, rows, space_.wide, class_search_->features(), layout(), threads,
                                histogram);
        };
    } else {
        search_ =
            std::make_unique<GradientSearch>(binned_, task_, limits_, space_.quantised, space_.all_quantised);
        fill = [this](RowList rows, int threads, Packed* histogram) {
            fill_histogram(binned_, rows, space_.quantised, search_->bytes(), layout(), threads, space_.histograms,
                           histogram);
        };
    }
    space_.histograms.resize(layout().size());
    rows_ = std::make_unique<LocalRows>(binned_, task.sample, layout(), std::move(fill),
                                        task.all_steps ? space_.all_quantised : space_.quantised,
                                        task.all_steps.has_value(), space_);
}

void PartitionRows::quantise(const PartTask& task) {
    const auto round = [&](const RoundedRows& rows, const NumberSizes& steps, Quantised& quantised) {
        quantised.gradient_step = steps.gradient;
        quantised.hessian_step = steps.hessian;
        quantised.is_wide = false;
        quantised.steps.resize(binned_.n_rows);
        if (&quantised == &space_.all_quantised || !rows.rows.empty())  // an empty list would mean all rows
            round_to_steps(rows, n_threads_, quantised);
    };
    if (task.shared) {
        quantise_classes(
            {task.steps.size(), task.gradient, task.hessian, task.sample, task.sample_weights, {}}, binned_.n_rows,
            [&](const RoundedRows& rows, std::size_t k) { round(rows, task.steps[k], space_.quantised); }, space_);
        return;
    }
    round({task.gradient, task.hessian, task.sample, task.sample_weights}, task.steps.front(), space_.quantised);
    if (task.all_steps) round({task.gradient, task.hessian, {}, {}}, *task.all_steps, space_.all_quantised);
}

// Sums of codes that are not in use are never written, but those of all parts are added.
Histogram PartitionRows::empty_histogram() {
    Histogram histogram = space_.histograms.take();
    if (!search_ || !binned_.coarse) std::fill_n(histogram.get(), layout().size(), 0);
    return histogram;
}

std::int64_t* PartitionRows::send(Histogram histogram, std::int64_t* to) {
    if (search_)
        search_->write_sent(histogram.get(), to);
    else
        std::copy_n(histogram.get(), layout().size(), to);
    space_.histograms.release(std::move(histogram));
    return to + histogram_size();
}

void PartitionRows::root(std::int64_t* histogram) {
    Worker worker{space_.scratch.front(), n_threads_};
    Histogram sums = empty_histogram();
    leaves_[0] = rows_->root(sums.get(), worker);
    send(std::move(sums), histogram);
}

// Where rows are read in blocks, one pass serves all leaves; otherwise one histogram after another stays in the
// cache.
void PartitionRows::divide(std::span<const PartDivision> divisions, std::span<std::int64_t> sizes,
                           std::int64_t* histograms) {
    const std::size_t together = rows_->takes_batches() ? divisions.size() : 1;
    for (std::size_t first = 0; first < divisions.size(); first += together)
        divide_together(divisions.subspan(first, together), sizes.subspan(2 * first), histograms);
}

void PartitionRows::divide_together(std::span<const PartDivision> divisions, std::span<std::int64_t> sizes,
                                    std::int64_t*& histograms) {
    Worker worker{space_.scratch.front(), n_threads_};
    std::vector<Division> local;
    std::vector<Histogram> sums;
    for (const PartDivision& division : divisions) {
        if (division.is_summed) sums.push_back(empty_histogram());
        local.push_back({&leaves_[division.parent], division.split, division.left_is_summed,
                         division.is_summed ? sums.back().get() : nullptr});
    }
    rows_->divide_as_asked(local, worker);
    for (Histogram& histogram : sums) histograms = send(std::move(histogram), histograms);
    for (std::size_t i = 0; i < local.size(); ++i) {
        leaves_[divisions[i].left] = local[i].left;
        leaves_[divisions[i].right] = local[i].right;
        sizes[2 * i] = static_cast<std::int64_t>(local[i].left.n_sample);
        sizes[2 * i + 1] = static_cast<std::int64_t>(local[i].left.n_rest);
    }
}

void PartitionRows::sum_codes(std::span<const std::uint32_t> leaves, std::span<const std::uint32_t> features,
                              std::size_t n_counted, Packed* sums, std::int64_t* counts) {
    Worker worker{space_.scratch.front(), n_threads_};
    std::vector<CodeRequest>
        requests;  // the features of a leaf together, which are summed in one pass over its rows
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (i == 0 || leaves[i] != leaves[i - 1])
            requests.push_back({&leaves_[leaves[i]], {}, {}, sums + i * kCodes});
        requests.back().features.push_back(features[i]);
    }
    rows_->sum_codes(requests, worker);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        const bool has_all = !binned_.coarse || binned_.levels[features[i]].any_missing;
        const std::size_t most = has_all ? binned_.n_rows : n_counted;
        std::ranges::copy(rows_->count_some(leaves_[leaves[i]], features[i], most), counts + i * kCodes);
    }
}

void PartitionRows::number_rows(std::span<const std::uint32_t> leaves,
                                std::span<std::uint32_t> leaf_of_row) const {
    for (std::uint32_t i = 0; i < leaves.size(); ++i)
        for (const RowList& rows : {leaves_[leaves[i]].sample, leaves_[leaves[i]].rest})
            for (const std::uint32_t row : rows) leaf_of_row[row] = i;
}

void find_leaves(const BinnedMatrix& binned, const SplitArrays& splits, std::span<std::uint32_t> leaf_of_row) {
    std::vector<std::uint32_t> all(binned.n_rows), buffer(binned.n_rows);
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    std::vector<std::pair<std::int32_t, RowList>> left_to_do{{splits.feature.empty() ? -1 : 0, RowList(all)}};
    while (!left_to_do.empty()) {
        const auto [node, rows] = left_to_do.back();
        left_to_do.pop_back();
        if (node < 0) {
            for (const std::uint32_t row : rows) leaf_of_row[row] = static_cast<std::uint32_t>(-1 - node);
            continue;
        }
        const auto split = static_cast<std::size_t>(node);
        const auto feature = static_cast<std::size_t>(splits.feature[split]);
        const std::vector<float>& edges = binned.edges[feature];
        const auto code = std::ranges::lower_bound(edges, splits.threshold[split]) - edges.begin();
        const std::size_t n_left =
            divide(binned, {feature, static_cast<int>(code), splits.missing_left[split] != 0}, rows, 1, buffer);
        left_to_do.push_back({splits.left[split], rows.first(n_left)});
        left_to_do.push_back({splits.right[split], rows.subspan(n_left)});
    }
}

}  // namespace rankwright
