#include "rankwright/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRowBlock = 256;
constexpr std::size_t kRowsAhead = 6;
// Below so many additions, waking another thread takes longer than it saves.
constexpr std::size_t kAdditionsAThread = 200'000;

// Numbers below this count as zero: one over a step must be finite.
constexpr double kSmallest = 1e-290;

// The nearest whole number of a small one: adding 1.5 x 2^52 leaves no bits for a fraction. A call of lround takes
// longer than all else here.
std::int32_t rounded(double value) {
    return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(value + 6755399441055744.0));
}

double largest(std::span<const double> values, std::span<const std::uint32_t> rows) {
    double most = 0.0;
    for (std::uint32_t row : rows) most = std::max(most, std::abs(values[row]));
    return most;
}

// The sums of kBlock neighbouring features, for a few rows: the sums and the rows' codes stay in the nearest
// cache. Meanwhile the same codes of the rows that come next are fetched, one row's for each row added: rows of a
// leaf lie apart, where the processor does not guess them, and it can only wait for so many at once.
template <std::size_t kBlock>
void add_block(const BinnedMatrix& binned, std::span<const std::uint32_t> rows,
               std::span<const std::uint32_t> next, std::span<const Packed> packed, std::size_t first,
               Packed* sums) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i < next.size()) __builtin_prefetch(binned.row(next[i]) + first);
        const std::uint8_t* codes = binned.row(rows[i]) + first;
        const Packed own = packed[rows[i]];
#pragma GCC unroll 32
        for (std::size_t slot = 0; slot < kBlock; ++slot) sums[slot * kBinStride + codes[slot]] += own;
    }
}

// Features that are neighbours, a block of rows and a block of features at a time.
void add_rows(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Packed> packed,
              std::size_t first, std::size_t count, Packed* histogram) {
    for (std::size_t begin = 0; begin < rows.size(); begin += kRowBlock) {
        const auto own = rows.subspan(begin, std::min(kRowBlock, rows.size() - begin));
        const auto rest = rows.subspan(begin + own.size());
        const auto next = rest.first(std::min(kRowBlock, rest.size()));
        std::size_t slot = 0;
        for (; slot + 32 <= count; slot += 32)
            add_block<32>(binned, own, next, packed, first + slot, histogram + slot * kBinStride);
        for (; slot + 8 <= count; slot += 8)
            add_block<8>(binned, own, next, packed, first + slot, histogram + slot * kBinStride);
        for (; slot < count; ++slot)
            add_block<1>(binned, own, next, packed, first + slot, histogram + slot * kBinStride);
    }
}

void add_listed(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Packed> packed,
                std::span<const std::uint32_t> features, Packed* histogram) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint8_t* codes = binned.row(rows[i]);
        if (i + kRowsAhead < rows.size()) __builtin_prefetch(binned.row(rows[i + kRowsAhead]) + features.front());
        const Packed own = packed[rows[i]];
        Packed* sums = histogram;
        for (std::uint32_t feature : features) {
            sums[codes[feature]] += own;
            sums += kBinStride;
        }
    }
}

}  // namespace

void quantise(std::span<const double> gradient, std::span<const double> weight,
              std::span<const std::uint32_t> rows, int levels, int n_threads, Quantised& quantised) {
    quantised.packed.resize(gradient.size());
    const auto most =
        static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) / std::max<std::size_t>(1, rows.size());
    const double steps =
        std::max(1.0, static_cast<double>(std::min<std::size_t>(static_cast<std::size_t>(levels), most)));
    const double gradient_most = largest(gradient, rows), weight_most = largest(weight, rows);
    quantised.gradient_step = gradient_most > kSmallest ? gradient_most / steps : 1.0;
    quantised.weight_step = weight_most > kSmallest ? weight_most / steps : 1.0;
    const double by_gradient = 1.0 / quantised.gradient_step, by_weight = 1.0 / quantised.weight_step;
    parallel_ranges(rows.size(), 1 << 16, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t row = rows[i];
            quantised.packed[row] = pack(rounded(gradient[row] * by_gradient), rounded(weight[row] * by_weight));
        }
    });
}

void fill_histogram(const BinnedMatrix& binned, std::span<const std::uint32_t> rows,
                    std::span<const Packed> packed, std::span<const std::uint32_t> features, int n_threads,
                    std::span<Packed> histogram) {
    const std::size_t useful = std::max<std::size_t>(1, rows.size() * features.size() / kAdditionsAThread);
    const std::size_t parts = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, n_threads)), useful);
    // Each thread has features of its own, so that nothing needs adding up afterwards.
    const std::size_t share = ((features.size() + parts - 1) / parts + 7) / 8 * 8;
    parallel_ranges(features.size(), share, n_threads, [&](std::size_t first, std::size_t last) {
        Packed* sums = histogram.data() + first * kBinStride;
        std::fill_n(sums, (last - first) * kBinStride, Packed{0});
        const auto own = features.subspan(first, last - first);
        if (own.back() - own.front() + 1 == own.size())
            add_rows(binned, rows, packed, own.front(), own.size(), sums);
        else
            add_listed(binned, rows, packed, own, sums);
    });
}

}  // namespace rankwright
