#include "rankwright/histogram.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRowBlock = 256;
constexpr std::size_t kRowsAhead = 6;
// Below so many additions, waking another thread takes longer than it saves.
constexpr std::size_t kAdditionsAThread = 400'000;

// Numbers below this count as zero: one over a step must be finite.
constexpr double kSmallest = 1e-290;

// The nearest whole number of a small one: adding 1.5 x 2^52 leaves no bits for a fraction. A call of lround takes
// longer than all else here.
std::int8_t rounded(double value) {
    return static_cast<std::int8_t>(std::bit_cast<std::uint64_t>(value + 6755399441055744.0));
}

double factor_of(std::span<const double> factors, std::size_t i) { return factors.empty() ? 1.0 : factors[i]; }

// A few rows at a time: what they add, fetched all at once, for rows of a leaf lie apart, where the processor does
// not guess them, and it can only wait for so many at once.
struct RowBlock {
    std::span<const std::uint32_t> rows, next;  // and the rows that come after them
    std::array<Packed, kRowBlock> own;
};

// The sums of kBlock neighbouring bytes: they stay in the nearest cache. Meanwhile the same bytes of the rows that
// come next are fetched, one row's for each row added.
template <std::size_t kBlock>
void add_block(const BinnedMatrix& binned, const RowBlock& block, std::size_t first, Packed* sums) {
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
        if (i < block.next.size()) __builtin_prefetch(binned.row(block.next[i]) + first);
        const std::uint8_t* bytes = binned.row(block.rows[i]) + first;
        const Packed own = block.own[i];
#pragma GCC unroll 32
        for (std::size_t slot = 0; slot < kBlock; ++slot) sums[slot * kBinStride + bytes[slot]] += own;
    }
}

// Bytes that are neighbours, a block of rows and a block of bytes at a time.
void add_rows(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Steps> steps,
              std::size_t first, std::size_t count, Packed* histogram) {
    RowBlock block;
    for (std::size_t begin = 0; begin < rows.size(); begin += kRowBlock) {
        block.rows = rows.subspan(begin, std::min(kRowBlock, rows.size() - begin));
        block.next = rows.subspan(begin + block.rows.size());
        block.next = block.next.first(std::min(kRowBlock, block.next.size()));
        for (std::size_t i = 0; i < block.rows.size(); ++i) block.own[i] = pack(steps[block.rows[i]]);
        std::size_t slot = 0;
        const auto add = [&]<std::size_t kBlock>(std::integral_constant<std::size_t, kBlock>) {
            for (; slot + kBlock <= count; slot += kBlock)
                add_block<kBlock>(binned, block, first + slot, histogram + slot * kBinStride);
        };
        add(std::integral_constant<std::size_t, 32>());
        add(std::integral_constant<std::size_t, 16>());
        add(std::integral_constant<std::size_t, 4>());
        add(std::integral_constant<std::size_t, 1>());
    }
}

void add_listed(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Steps> steps,
                std::span<const std::uint32_t> listed, Packed* histogram) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint8_t* bytes = binned.row(rows[i]);
        if (i + kRowsAhead < rows.size()) __builtin_prefetch(binned.row(rows[i + kRowsAhead]) + listed.front());
        const Packed own = pack(steps[rows[i]]);
        Packed* sums = histogram;
        for (std::uint32_t byte : listed) {
            sums[bytes[byte]] += own;
            sums += kBinStride;
        }
    }
}

// Row by row through several columns: neighbouring rows often have the same code, and an addition to a sum waits
// for the one before it. Other columns fill the wait.
void add_columns(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Steps> steps,
                 std::span<const std::uint32_t> features, Packed* sums) {
    std::size_t first = 0;
    const auto add = [&]<std::size_t kColumns>(std::integral_constant<std::size_t, kColumns>) {
        for (; first + kColumns <= features.size(); first += kColumns) {
            std::array<const std::uint8_t*, kColumns> columns;
            for (std::size_t i = 0; i < kColumns; ++i) columns[i] = binned.column(features[first + i]);
            Packed* own = sums + first * 256;
            for (const std::uint32_t row : rows) {
                const Packed added = pack(steps[row]);
#pragma GCC unroll 4
                for (std::size_t i = 0; i < kColumns; ++i) own[i * 256 + columns[i][row]] += added;
            }
        }
    };
    add(std::integral_constant<std::size_t, 4>());
    add(std::integral_constant<std::size_t, 2>());
    add(std::integral_constant<std::size_t, 1>());
}

}  // namespace

void quantise(std::span<const double> gradient, std::span<const double> weight,
              std::span<const std::uint32_t> rows, std::span<const double> factors, int levels, int n_threads,
              Quantised& quantised) {
    quantised.steps.resize(gradient.size());
    const std::size_t n_rows = rows.empty() ? gradient.size() : rows.size();
    const auto row_of = [rows](std::size_t i) { return rows.empty() ? i : rows[i]; };
    const auto most =
        static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) / std::max<std::size_t>(1, n_rows);
    const double n_steps =
        std::max(1.0, static_cast<double>(std::min<std::size_t>(static_cast<std::size_t>(levels), most)));
    double gradient_most = 0.0, weight_most = 0.0;
    for (std::size_t i = 0; i < n_rows; ++i) {
        const double factor = factor_of(factors, i);
        gradient_most = std::max(gradient_most, std::abs(gradient[row_of(i)] * factor));
        weight_most = std::max(weight_most, weight[row_of(i)] * factor);
    }
    quantised.gradient_step = gradient_most > kSmallest ? gradient_most / n_steps : 1.0;
    quantised.weight_step = weight_most > kSmallest ? weight_most / n_steps : 1.0;
    const double by_gradient = 1.0 / quantised.gradient_step, by_weight = 1.0 / quantised.weight_step;
    parallel_ranges(n_rows, 1 << 16, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t row = row_of(i);
            const double factor = factor_of(factors, i);
            quantised.steps[row] = {rounded(gradient[row] * factor * by_gradient),
                                    rounded(weight[row] * factor * by_weight)};
        }
    });
}

void fill_histogram(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Steps> steps,
                    std::span<const std::uint32_t> bytes, int n_threads, std::span<Packed> histogram) {
    const std::size_t useful = std::max<std::size_t>(1, rows.size() * bytes.size() / kAdditionsAThread);
    const std::size_t parts = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, n_threads)), useful);
    // Each thread has bytes of its own, so that nothing needs adding up afterwards.
    const std::size_t share = ((bytes.size() + parts - 1) / parts + 3) / 4 * 4;
    parallel_ranges(bytes.size(), share, n_threads, [&](std::size_t first, std::size_t last) {
        Packed* sums = histogram.data() + first * kBinStride;
        std::fill_n(sums, (last - first) * kBinStride, Packed{0});
        const auto own = bytes.subspan(first, last - first);
        if (own.back() - own.front() + 1 == own.size())
            add_rows(binned, rows, steps, own.front(), own.size(), sums);
        else
            add_listed(binned, rows, steps, own, sums);
    });
}

void add_codes(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Steps> steps,
               std::span<const std::uint32_t> features, int n_threads, std::span<Packed> sums) {
    const auto parts = static_cast<std::size_t>(std::max(1, n_threads));
    parallel_ranges(features.size(), (features.size() + parts - 1) / parts, n_threads,
                    [&](std::size_t first, std::size_t last) {
                        add_columns(binned, rows, steps, features.subspan(first, last - first),
                                    sums.data() + first * 256);
                    });
}

}  // namespace rankwright
