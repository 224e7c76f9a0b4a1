#include "histograms/histogram.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kStride = kCodes + 8;  // the slot size of packed sums, known to the compiler
constexpr std::size_t kRowBlock = 256;
constexpr std::size_t kRowsAhead = 6;
// Columns of fewer rows stay in the cache, and are faster to add than rows.
constexpr std::size_t kRowsInCache = 50'000;
// With fewer additions, waking another thread costs more than it saves.
constexpr std::size_t kAdditionsPerThread = 400'000;

// A block of rows with their packed numbers, which are loaded together: the rows of a leaf are scattered in
// memory, so that the processor cannot predict their addresses, and it has few loads in flight.
struct RowBlock {
    std::span<const std::uint32_t> rows, next;  // and the rows that come after them
    std::array<Packed, kRowBlock> packed;
};

// The sums of kBlock neighbouring bytes: they stay in the nearest cache. Meanwhile the same bytes of the rows that
// come next are fetched, one row's for each row added.
template <std::size_t kBlock>
void add_block(const BinnedMatrix& binned, const RowBlock& block, std::size_t first, Packed* sums) {
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
        if (i < block.next.size()) __builtin_prefetch(binned.row(block.next[i]) + first);
        const std::uint8_t* bytes = binned.row(block.rows[i]) + first;
        const Packed packed = block.packed[i];
#pragma GCC unroll 32
        for (std::size_t slot = 0; slot < kBlock; ++slot) sums[slot * kStride + bytes[slot]] += packed;
    }
}

// Adjacent bytes, a block of rows and a block of bytes at a time.
template <class Step>
void add_rows(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Step> steps,
              std::size_t first, std::size_t count, Packed* histogram) {
    RowBlock block;
    for (std::size_t begin = 0; begin < rows.size(); begin += kRowBlock) {
        block.rows = rows.subspan(begin, std::min(kRowBlock, rows.size() - begin));
        block.next = rows.subspan(begin + block.rows.size());
        block.next = block.next.first(std::min(kRowBlock, block.next.size()));
        for (std::size_t i = 0; i < block.rows.size(); ++i) block.packed[i] = pack(steps[block.rows[i]]);
        std::size_t slot = 0;
        const auto add = [&]<std::size_t kBlock>(std::integral_constant<std::size_t, kBlock>) {
            for (; slot + kBlock <= count; slot += kBlock)
                add_block<kBlock>(binned, block, first + slot, histogram + slot * kStride);
        };
        add(std::integral_constant<std::size_t, 32>());
        add(std::integral_constant<std::size_t, 16>());
        add(std::integral_constant<std::size_t, 4>());
        add(std::integral_constant<std::size_t, 1>());
    }
}

template <class Step>
void add_listed(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Step> steps,
                std::span<const std::uint32_t> listed, Packed* histogram) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint8_t* bytes = binned.row(rows[i]);
        if (i + kRowsAhead < rows.size()) __builtin_prefetch(binned.row(rows[i + kRowsAhead]) + listed.front());
        const Packed packed = pack(steps[rows[i]]);
        Packed* sums = histogram;
        for (std::uint32_t byte : listed) {
            sums[bytes[byte]] += packed;
            sums += kStride;
        }
    }
}

// Row by row through several columns: neighbouring rows often have the same code, and an addition to a sum waits
// for the one before it. Other columns fill the wait.
template <std::size_t kSlot, std::size_t kColumns, class Step>
void add_together(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Step> steps,
                  const std::uint32_t* features, Packed* sums) {
    std::array<const std::uint8_t*, kColumns> columns;
    for (std::size_t i = 0; i < kColumns; ++i) columns[i] = binned.column(features[i]);
    for (const std::uint32_t row : rows) {
        const Packed added = pack(steps[row]);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < kColumns; ++i) sums[i * kSlot + columns[i][row]] += added;
    }
}

// Adds columns to slots of kSlot sums, at most kTogether at a time and about equally many each time.
template <std::size_t kSlot, class Step>
void add_columns(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Step> steps,
                 std::span<const std::uint32_t> features, Packed* sums) {
    constexpr std::size_t kTogether = 8;
    const auto add = [&]<std::size_t... kLess>(std::index_sequence<kLess...>, std::size_t first,
                                               std::size_t size) {
        ((size == kTogether - kLess && (add_together<kSlot, kTogether - kLess>(
                                            binned, rows, steps, features.data() + first, sums + first * kSlot),
                                        true)) ||
         ...);
    };
    const std::size_t n_groups = (features.size() + kTogether - 1) / kTogether;
    for (std::size_t group = 0; group < n_groups; ++group) {
        const std::size_t first = features.size() * group / n_groups;
        add(std::make_index_sequence<kTogether>(), first, features.size() * (group + 1) / n_groups - first);
    }
}

}  // namespace

Histogram new_histogram(std::size_t size) {
    return Histogram(static_cast<std::int64_t*>(
        ::operator new[](std::max<std::size_t>(1, size) * sizeof(std::int64_t), std::align_val_t{kAlignment})));
}

void HistogramLayout::clear(std::size_t first, std::size_t last, std::int64_t* histogram) const {
    for (std::size_t slot = first; slot < last; ++slot) {
        std::int64_t* sums = histogram + slot * slot_size();
        std::fill_n(sums, static_cast<std::size_t>(n_used[slot]) * width, 0);
        std::fill_n(sums + kMissing * width, width, 0);
    }
}

void HistogramLayout::subtract(const std::int64_t* child, std::int64_t* parent) const {
    for (std::size_t slot = 0; slot < n_used.size(); ++slot) {
        const std::int64_t* from = child + slot * slot_size();
        std::int64_t* to = parent + slot * slot_size();
        const std::size_t size = static_cast<std::size_t>(n_used[slot]) * width;
        for (std::size_t i = 0; i < size; ++i) to[i] -= from[i];
        if (n_used[slot] == kCodes) continue;
        for (std::size_t i = kMissing * width; i < kCodes * width; ++i) to[i] -= from[i];
    }
}

std::vector<std::int64_t> HistogramLayout::slot_total(std::size_t slot, const std::int64_t* histogram) const {
    const std::int64_t* sums = histogram + slot * slot_size();
    std::vector<std::int64_t> total(sums + kMissing * width, sums + kCodes * width);
    for (int code = 0; code < std::min(n_used[slot], static_cast<int>(kMissing)); ++code, sums += width)
        for (std::size_t k = 0; k < width; ++k) total[k] += sums[k];
    return total;
}

void HistogramPool::resize(std::size_t size) {
    if (size != size_) spare_.clear();
    size_ = size;
}

Histogram HistogramPool::take() {
    {
        const std::lock_guard lock(mutex_);
        if (!spare_.empty()) {
            Histogram histogram = std::move(spare_.back());
            spare_.pop_back();
            return histogram;
        }
    }
    return new_histogram(size_);
}

void HistogramPool::release(Histogram histogram) {
    if (!histogram) return;
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(histogram));
}

void fill_histogram(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const Quantised& numbers,
                    std::span<const std::uint32_t> bytes, const HistogramLayout& layout, int n_threads,
                    std::int64_t* histogram) {
    const std::size_t useful = std::max<std::size_t>(1, rows.size() * bytes.size() / kAdditionsPerThread);
    const std::size_t parts = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, n_threads)), useful);
    // Each thread has bytes of its own, so that no sums need to be merged afterwards.
    const std::size_t per_thread = ((bytes.size() + parts - 1) / parts + 3) / 4 * 4;
    parallel_ranges(bytes.size(), per_thread, n_threads, [&](std::size_t first, std::size_t last) {
        layout.clear(first, last, histogram);
        Packed* sums = histogram + first * kStride;
        const auto thread_bytes = bytes.subspan(first, last - first);
        numbers.visit([&](auto steps) {
            if (!binned.coarse && binned.n_rows < kRowsInCache)
                add_columns<kStride>(binned, rows, steps, thread_bytes, sums);
            else if (thread_bytes.back() - thread_bytes.front() + 1 == thread_bytes.size())
                add_rows(binned, rows, steps, thread_bytes.front(), thread_bytes.size(), sums);
            else
                add_listed(binned, rows, steps, thread_bytes, sums);
        });
    });
}

void add_codes(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const Quantised& numbers,
               std::span<const std::uint32_t> features, int n_threads, std::span<Packed> sums) {
    const auto parts = static_cast<std::size_t>(std::max(1, n_threads));
    parallel_ranges(features.size(), (features.size() + parts - 1) / parts, n_threads,
                    [&](std::size_t first, std::size_t last) {
                        numbers.visit([&](auto steps) {
                            add_columns<kCodes>(binned, rows, steps, features.subspan(first, last - first),
                                                sums.data() + first * kCodes);
                        });
                    });
}

}  // namespace rankwright
