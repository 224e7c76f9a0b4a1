#include "histograms/histogram.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kStride = kCodes + 8;  // the slot size of packed sums, known to the compiler
constexpr std::size_t kRowBlock = 256;
// Rows that are added by column at a time: enough for the sums of a few columns to stay in the nearest cache.
constexpr std::size_t kColumnBlock = 2048;
constexpr std::size_t kByteGroup = 128;
constexpr std::size_t kRowsAhead = 8;
constexpr std::size_t kCopied = 16;
static_assert(kCopied <= kRowPadding && kByteGroup % kCopied == 0);
// Columns of fewer rows stay in the cache, and are faster to add than rows.
constexpr std::size_t kRowsInCache = 50'000;
// With fewer additions, another thread costs more than it saves: one with sums of its own, which are then added
// up, or one with columns of its own.
constexpr std::size_t kAdditionsPerThread = 400'000;
constexpr std::size_t kAdditionsPerColumnThread = 20'000;
constexpr std::size_t kRowsPerPart = 25'000;  // the same for add_codes

// Copies of up to kByteGroup bytes of each of up to kRowBlock rows, side by side: the rows of a leaf are scattered
// in memory, and additions must not wait for them.
class CopiedBytes {
  public:
    void copy(const BinnedMatrix& binned, std::span<const std::uint32_t> rows,
              std::span<const std::uint32_t> bytes) {
        const std::size_t front = bytes.front(), back = bytes.back(), n_rows = rows.size();
        const std::size_t row_size = row_size_ = (bytes.size() + kCopied - 1) / kCopied * kCopied;
        const bool adjacent = back - front + 1 == bytes.size();
        std::uint8_t* to = bytes_.data();
        for (std::size_t i = 0; i < n_rows; ++i, to += row_size) {
            if (i + kRowsAhead < n_rows) {
                __builtin_prefetch(binned.row(rows[i + kRowsAhead]) + front);
                __builtin_prefetch(binned.row(rows[i + kRowsAhead]) + back);
            }
            const std::uint8_t* from = binned.row(rows[i]);
            if (adjacent) {
                for (std::size_t first = 0; first < row_size; first += kCopied)
                    std::memcpy(to + first, from + front + first, kCopied);
            } else {
                for (std::size_t slot = 0; slot < bytes.size(); ++slot) to[slot] = from[bytes[slot]];
            }
        }
    }

    // Adds the numbers, one per row, to the sums of the slots [first, first + kSlots), which stay in the nearest
    // cache. Meanwhile one byte of each of the rows that come next is fetched.
    template <std::size_t kSlots>
    void add(std::size_t first, std::span<const Packed> numbers, const BinnedMatrix& binned,
             std::span<const std::uint32_t> next, std::size_t fetched, Packed* sums) const {
        const std::size_t row_size = row_size_;
        const std::uint8_t* bytes = bytes_.data() + first;
        for (std::size_t i = 0; i < numbers.size(); ++i, bytes += row_size) {
            if (i < next.size()) __builtin_prefetch(binned.row(next[i]) + fetched, 0, 2);
            const Packed number = numbers[i];
#pragma GCC unroll 32
            for (std::size_t slot = 0; slot < kSlots; ++slot) sums[slot * kStride + bytes[slot]] += number;
        }
    }

  private:
    std::array<std::uint8_t, kRowBlock * kByteGroup> bytes_;
    std::size_t row_size_ = 0;
};

// Rows of a leaf, and their packed numbers.
struct RowsAdded {
    std::span<const std::uint32_t> rows;
    std::span<const Packed> numbers;

    Packed number(std::size_t i) const { return numbers[i]; }
};

// Adds a block of rows with their packed numbers, a group of bytes at a time.
void add_block(const BinnedMatrix& binned, const RowsAdded& added, std::span<const std::uint32_t> next,
               std::span<const std::uint32_t> bytes, Packed* histogram) {
    CopiedBytes copied;
    for (std::size_t first = 0; first < bytes.size(); first += kByteGroup) {
        const auto group = bytes.subspan(first, std::min(kByteGroup, bytes.size() - first));
        copied.copy(binned, added.rows, group);
        std::size_t slot = 0, fetched = group.front();  // one byte per line of the cache
        const auto add = [&]<std::size_t kSlots>(std::integral_constant<std::size_t, kSlots>) {
            for (; slot + kSlots <= group.size(); slot += kSlots, fetched += kAlignment)
                copied.add<kSlots>(
                    slot, added.numbers, binned, next.first(fetched < group.back() + kAlignment ? next.size() : 0),
                    std::min<std::size_t>(fetched, group.back()), histogram + (first + slot) * kStride);
        };
        add(std::integral_constant<std::size_t, 32>());
        add(std::integral_constant<std::size_t, 16>());
        add(std::integral_constant<std::size_t, 4>());
        add(std::integral_constant<std::size_t, 1>());
    }
}

// Up to kMost rows whose numbers are not zero: in later rounds many are zero, and add nothing.
template <class Step, std::size_t kMost>
class NonzeroRows {
  public:
    // Takes them from the front of a list.
    void take(std::span<const std::uint32_t>& rows, std::span<const Step> steps) {
        std::size_t size = 0;
        while (size < kMost && !rows.empty()) {
            const auto looked_at = rows.first(std::min(kMost - size, rows.size()));
            for (const std::uint32_t row : looked_at) {  // all are written, some stay: no branch to predict
                const Packed number = pack(steps[row]);
                rows_[size] = row;
                numbers_[size] = number;
                size += number != 0;
            }
            rows = rows.subspan(looked_at.size());
        }
        size_ = size;
    }
    RowsAdded added() const { return {std::span(rows_).first(size_), std::span(numbers_).first(size_)}; }

  private:
    std::size_t size_ = 0;
    std::array<std::uint32_t, kMost> rows_;
    std::array<Packed, kMost> numbers_;
};

// Rows of a leaf, with the numbers of all rows.
template <class Step>
struct ListedRows {
    std::span<const std::uint32_t> rows;
    std::span<const Step> steps;

    Packed number(std::size_t i) const { return pack(steps[rows[i]]); }
};

// Calls add(block, next rows) for blocks of rows.
template <class Step, class Add>
void for_each_block(std::span<const std::uint32_t> rows, std::span<const Step> steps, const Add& add) {
    std::array<NonzeroRows<Step, kRowBlock>, 2> blocks;
    blocks[0].take(rows, steps);
    for (std::size_t i = 0; !blocks[i].added().rows.empty(); i = 1 - i) {
        blocks[1 - i].take(rows, steps);
        add(blocks[i].added(), blocks[1 - i].added().rows);
    }
}

// Row by row through several columns: neighbouring rows often have the same code, and an addition to a sum waits
// for the one before it. Other columns fill the wait.
template <std::size_t kSlot, std::size_t kColumns, class Added>
void add_together(const BinnedMatrix& binned, const Added& added, const std::uint32_t* features, Packed* sums) {
    std::array<const std::uint8_t*, kColumns> columns;
    for (std::size_t i = 0; i < kColumns; ++i) columns[i] = binned.column(features[i]);
    for (std::size_t i = 0; i < added.rows.size(); ++i) {
        const std::uint32_t row = added.rows[i];
        const Packed number = added.number(i);
#pragma GCC unroll 8
        for (std::size_t column = 0; column < kColumns; ++column)
            sums[column * kSlot + columns[column][row]] += number;
    }
}

// Adds columns to slots of kSlot sums, at most kTogether at a time and about equally many each time.
template <std::size_t kSlot, class Added>
void add_columns(const BinnedMatrix& binned, const Added& added, std::span<const std::uint32_t> features,
                 Packed* sums) {
    constexpr std::size_t kTogether = 8;
    const auto add = [&]<std::size_t... kLess>(std::index_sequence<kLess...>, std::size_t first,
                                               std::size_t size) {
        ((size == kTogether - kLess &&
          (add_together<kSlot, kTogether - kLess>(binned, added, features.data() + first, sums + first * kSlot),
           true)) ||
         ...);
    };
    const std::size_t n_groups = (features.size() + kTogether - 1) / kTogether;
    for (std::size_t group = 0; group < n_groups; ++group) {
        const std::size_t first = features.size() * group / n_groups;
        add(std::make_index_sequence<kTogether>(), first, features.size() * (group + 1) / n_groups - first);
    }
}

// Rows are divided among threads, which have sums of their own: each row is then read once. There is one part per
// thread, if so many are useful, or several where adding their sums up costs little: a delayed thread takes fewer,
// and one that comes late still finds some.
std::size_t parts_of(std::size_t n_rows, int n_threads, std::size_t useful) {
    const auto threads = static_cast<std::size_t>(std::max(1, n_threads));
    if (threads == 1) return 1;
    const std::size_t parts = std::max(std::min(useful, threads), std::min(useful / 8, 4 * threads));
    return std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(1, n_rows));
}

template <class Body>
void for_each_part(std::span<const std::uint32_t> rows, std::size_t n_parts, int n_threads, const Body& body) {
    parallel_for(n_parts, n_threads, [&](std::size_t part) {
        const std::size_t first = rows.size() * part / n_parts;
        body(part, rows.subspan(first, rows.size() * (part + 1) / n_parts - first));
    });
}

// Each thread adds all rows to columns of its own.
void fill_by_column(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const Quantised& numbers,
                    std::span<const std::uint32_t> bytes, int n_threads, std::int64_t* histogram) {
    const std::size_t useful = std::min(bytes.size(), rows.size() * bytes.size() / kAdditionsPerColumnThread);
    const std::size_t n_parts =
        std::clamp<std::size_t>(useful, 1, static_cast<std::size_t>(std::max(1, n_threads)));
    parallel_for(n_parts, n_threads, [&](std::size_t part) {
        const std::size_t first = bytes.size() * part / n_parts;
        const auto own = bytes.subspan(first, bytes.size() * (part + 1) / n_parts - first);
        numbers.visit([&]<class Step>(std::span<const Step> steps) {
            NonzeroRows<Step, kColumnBlock> block;
            for (std::span<const std::uint32_t> left = rows; !left.empty();) {
                block.take(left, steps);
                add_columns<kStride>(binned, block.added(), own, histogram + first * kStride);
            }
        });
    });
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

// Calls combine(from, to) for the sums of all codes in use of the slots [first, last).
template <class Combine>
void HistogramLayout::for_each(std::size_t first, std::size_t last, const std::int64_t* from, std::int64_t* to,
                               const Combine& combine) const {
    from += first * slot_size();
    to += first * slot_size();
    for (std::size_t slot = first; slot < last; ++slot, from += slot_size(), to += slot_size()) {
        const std::size_t size = static_cast<std::size_t>(n_used[slot]) * width;
        for (std::size_t i = 0; i < size; ++i) combine(from[i], to[i]);
        if (by_level || n_used[slot] == kCodes) continue;
        for (std::size_t i = kMissing * width; i < kCodes * width; ++i) combine(from[i], to[i]);
    }
}

void HistogramLayout::add(std::size_t first, std::size_t last, const std::int64_t* part,
                          std::int64_t* histogram) const {
    for_each(first, last, part, histogram, [](std::int64_t from, std::int64_t& to) { to += from; });
}

void HistogramLayout::subtract(const std::int64_t* child, std::int64_t* parent) const {
    for_each(0, n_used.size(), child, parent, [](std::int64_t from, std::int64_t& to) { to -= from; });
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
                    HistogramPool& pool, std::int64_t* histogram) {
    if (!binned.coarse && binned.n_rows < kRowsInCache) {
        layout.clear(0, bytes.size(), histogram);
        return fill_by_column(binned, rows, numbers, bytes, n_threads, histogram);
    }
    const std::size_t useful = rows.size() * bytes.size() / kAdditionsPerThread;
    const auto fill = [&](std::span<const std::uint32_t> part, std::int64_t* sums) {
        layout.clear(0, bytes.size(), sums);
        numbers.visit([&]<class Step>(std::span<const Step> steps) {
            for_each_block(part, steps, [&](const RowsAdded& added, std::span<const std::uint32_t> next) {
                add_block(binned, added, next, bytes, sums);
            });
        });
    };
    std::vector<Histogram> others(parts_of(rows.size(), n_threads, useful) - 1);
    for (Histogram& sums : others) sums = pool.take();
    for_each_part(rows, others.size() + 1, n_threads, [&](std::size_t part, std::span<const std::uint32_t> own) {
        fill(own, part == 0 ? histogram : others[part - 1].get());
    });
    if (others.empty()) return;
    const std::size_t slots_per_thread = bytes.size() / static_cast<std::size_t>(n_threads) + 1;
    parallel_ranges(bytes.size(), slots_per_thread, n_threads, [&](std::size_t first, std::size_t last) {
        for (const Histogram& sums : others) layout.add(first, last, sums.get(), histogram);
    });
    for (Histogram& sums : others) pool.release(std::move(sums));
}

void add_codes(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const Quantised& numbers,
               std::span<const std::uint32_t> features, int n_threads, std::span<Packed> sums) {
    const std::size_t n_parts = parts_of(rows.size(), n_threads, rows.size() / kRowsPerPart);
    std::vector<Packed> others((n_parts - 1) * sums.size());
    for_each_part(rows, n_parts, n_threads, [&](std::size_t part, std::span<const std::uint32_t> own) {
        Packed* const to = part == 0 ? sums.data() : others.data() + (part - 1) * sums.size();
        numbers.visit([&]<class Step>(std::span<const Step> steps) {
            add_columns<kCodes>(binned, ListedRows<Step>{own, steps}, features, to);
        });
    });
    for (std::size_t part = 0; part + 1 < n_parts; ++part)
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += others[part * sums.size() + i];
}

}  // namespace rankwright
