#include "trees/category_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr double kOptimism = 0.5;
constexpr std::size_t kRowsPerRange = 1 << 15;

struct LevelSums {
    std::vector<double> gradient, hessian;  // by level
    double total_gradient = 0.0, total_hessian = 0.0, squared_gradients = 0.0;
};

LevelSums sum_levels(const Category& category, const Quantised& quantised, std::span<const std::uint32_t> rows) {
    std::vector<Packed> sums(category.n_rows.size());
    Packed total = 0;
    double squares = 0.0;
    quantised.visit([&](const auto& steps) {
        const auto add = [&](std::size_t row) {
            const Packed step = pack(steps[row]);
            const std::uint32_t level = category.level_of_row[row];
            if (level == kNoLevel) return;
            sums[level] += step;
            total += step;
            const auto gradient = static_cast<double>(gradient_of(step));
            squares += gradient * gradient;
        };
        if (rows.empty())
            for (std::size_t row = 0; row < steps.size(); ++row) add(row);
        else
            for (const std::uint32_t row : rows) add(row);
    });
    LevelSums result;
    for (const Packed sum : sums) {
        result.gradient.push_back(static_cast<double>(gradient_of(sum)) * quantised.gradient_step);
        result.hessian.push_back(static_cast<double>(hessian_of(sum)) * quantised.hessian_step);
    }
    result.total_gradient = static_cast<double>(gradient_of(total)) * quantised.gradient_step;
    result.total_hessian = static_cast<double>(hessian_of(total)) * quantised.hessian_step;
    result.squared_gradients = squares * quantised.gradient_step * quantised.gradient_step;
    return result;
}

// The place of each level in the order of the header, and the optimism of the category.
std::vector<double> estimate_effects(const LevelSums& sums, double& optimism) {
    const std::size_t n_levels = sums.gradient.size();
    std::vector<double> effects(n_levels);
    optimism = 0.0;
    if (!(sums.total_hessian > 0.0) || !(sums.squared_gradients > 0.0)) return effects;
    const double mean = sums.total_gradient / sums.total_hessian,
                 noise = sums.squared_gradients / sums.total_hessian;
    double gain = -mean * sums.total_gradient, squared_hessians = 0.0, n_apart = -1.0;
    for (std::size_t level = 0; level < n_levels; ++level) {
        const double gradient = sums.gradient[level], hessian = sums.hessian[level];
        if (!(hessian > 0.0)) continue;
        gain += gradient * gradient / hessian;
        squared_hessians += hessian * hessian;
        n_apart += 1.0;
    }
    const double by_chance = n_apart * noise, spread = sums.total_hessian - squared_hessians / sums.total_hessian;
    const double between = spread > 0.0 ? std::max(0.0, (gain - by_chance) / spread) : 0.0;
    for (std::size_t level = 0; level < n_levels; ++level)
        effects[level] =
            (sums.gradient[level] - mean * sums.hessian[level]) / (noise + sums.hessian[level] * between);
    const double share_of_chance = by_chance < gain ? by_chance / gain : 1.0;
    optimism = kOptimism * by_chance * share_of_chance / sums.total_hessian;
    return effects;
}

// Adjacent levels share a code if there are too many, so that codes have about the same number of rows.
void code_levels(const std::vector<double>& effects, const Category& category, Category& coded) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t level = 0; level < category.n_rows.size(); ++level)
        if (category.n_rows[level] > 0) order.push_back(level);
    std::ranges::sort(order, {}, [&](std::uint32_t level) { return std::tuple(effects[level], level); });
    std::vector<std::size_t> n_rows;
    for (const std::uint32_t level : order) n_rows.push_back(category.n_rows[level]);
    const std::vector<std::uint32_t> codes = even_groups(n_rows, kMostBins);
    coded.code_of_level.assign(category.n_rows.size(), kMissing);
    for (std::size_t i = 0; i < order.size(); ++i)
        coded.code_of_level[order[i]] = static_cast<std::uint8_t>(codes[i]);
}

// The coarse levels of new codes; their number stays the same, and so does their place in the bytes of a row.
FeatureLevels regroup(const FeatureLevels& before, const Category& category, const Category& coded) {
    std::vector<std::size_t> n_rows(static_cast<std::size_t>(coded.n_codes));
    for (std::size_t level = 0; level < category.n_rows.size(); ++level)
        if (category.n_rows[level] > 0) n_rows[coded.code_of_level[level]] += category.n_rows[level];
    FeatureLevels levels = group_codes(n_rows, before.any_missing);
    levels.byte = before.byte;
    levels.stride = before.stride;
    levels.n_levels = before.n_levels;
    levels.level[kMissing] = before.level[kMissing];
    return levels;
}

// Replaces the codes of a category in its column, and their levels in the bytes of the rows.
void write_codes(const Category& category, std::size_t feature, int n_threads, OrderedCategories& ordered) {
    BinnedMatrix& binned = ordered.binned;
    const Category& coded = binned.categories[feature];
    const FeatureLevels before = binned.levels[feature];
    if (binned.coarse) binned.levels[feature] = regroup(before, category, coded);
    const FeatureLevels& levels = binned.levels[feature];
    std::uint8_t* column = ordered.by_column.get() + feature * binned.column_stride;
    std::uint8_t* bytes = ordered.by_row.get() + levels.byte;
    parallel_ranges(binned.n_rows, kRowsPerRange, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            const std::uint32_t level = category.level_of_row[row];
            const std::uint8_t code = level == kNoLevel ? kMissing : coded.code_of_level[level];
            const int change = levels.level[code] - before.level[column[row]];
            std::uint8_t& byte = bytes[row * binned.n_bytes];
            byte = static_cast<std::uint8_t>(byte + change * static_cast<int>(levels.stride));
            column[row] = code;
        }
    });
}

// The levels of rows stay in the original.
void copy_matrix(const BinnedMatrix& binned, OrderedCategories& ordered) {
    BinnedMatrix& copy = ordered.binned;
    copy = binned;
    for (Category& category : copy.categories) category = {{}, std::move(category.n_rows), {}, category.n_codes};
    const auto copied = [](const std::uint8_t* bytes, std::size_t size) {
        auto result = std::make_unique_for_overwrite<std::uint8_t[]>(size);
        std::copy_n(bytes, size, result.get());
        return result;
    };
    ordered.by_row = copied(binned.by_row.get(), binned.n_rows * binned.n_bytes + kRowPadding);
    ordered.by_column = copied(binned.by_column.get(), binned.column_stride * binned.n_features);
    copy.by_row = ordered.by_row;
    copy.by_column = ordered.by_column;
}

}  // namespace

const BinnedMatrix& order_categories(const BinnedMatrix& binned, std::span<const std::uint32_t> features,
                                     const Quantised& quantised, std::span<const std::uint32_t> rows,
                                     int n_threads, OrderedCategories& ordered) {
    if (binned.categories.empty()) return binned;
    if (ordered.binned.id != binned.id) copy_matrix(binned, ordered);
    for (const std::uint32_t feature : features) {
        if (!binned.is_category(feature)) continue;
        const Category& category = binned.categories[feature];
        Category& coded = ordered.binned.categories[feature];
        code_levels(estimate_effects(sum_levels(category, quantised, rows), coded.optimism), category, coded);
        write_codes(category, feature, n_threads, ordered);
    }
    return ordered.binned;
}

}  // namespace rankwright
