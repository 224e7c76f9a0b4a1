#include <algorithm>

#include "histograms/histogram.hpp"
#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// With fewer additions, waking another thread costs more than it saves.
constexpr std::size_t kAdditionsPerThread = 200'000;

}  // namespace

std::size_t wide_width(std::size_t n) { return (n + kWideLanes - 1) / kWideLanes * kWideLanes; }

void WideRows::resize(std::size_t rows, std::size_t n_values) {
    const std::size_t wanted = wide_width(n_values);
    if (rows == n_rows && wanted == width) return;
    values = new_histogram(rows * wanted);
    std::fill_n(values.get(), rows * wanted, 0);
    n_rows = rows;
    width = wanted;
}

void fill_wide_histogram(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const WideRows& numbers,
                         std::span<const std::uint32_t> features, const HistogramLayout& layout, int n_threads,
                         std::int64_t* histogram) {
    // Coarse matrices have codes by column only.
    const std::uint8_t* codes = binned.coarse ? binned.by_column.get() : binned.by_row.get();
    const std::size_t row_stride = binned.coarse ? 1 : binned.n_bytes;
    const std::size_t feature_stride = binned.coarse ? binned.column_stride : 1;
    const std::size_t additions = rows.size() * features.size() * numbers.width;
    const std::size_t useful = std::max<std::size_t>(1, additions / kAdditionsPerThread);
    const std::size_t parts = std::min(static_cast<std::size_t>(std::max(1, n_threads)), useful);
    const std::size_t per_thread = (features.size() + parts - 1) / parts;
    const SimdPath path = widest_path();
    // Each thread has features of its own, so that no sums need to be merged afterwards.
    parallel_ranges(features.size(), per_thread, n_threads, [&](std::size_t first, std::size_t last) {
        layout.clear(first, last, histogram);
        std::vector<const std::uint8_t*> columns;
        for (std::size_t slot = first; slot < last; ++slot)
            columns.push_back(codes + features[slot] * feature_stride);
        const WideTask task{
            rows.data(),       rows.size(),    columns.data(), columns.size(),
            row_stride,        numbers.row(0), numbers.width,  histogram + first * layout.slot_size(),
            layout.slot_size()};
        add_wide_rows(task, path);
    });
}

}  // namespace rankwright
