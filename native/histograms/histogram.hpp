// Sums of the rows of a leaf for every bin of every feature, from which splits are chosen.
//
// All sums are 64-bit integers, whatever the statistic: a packed gradient and hessian, several of them, or signed
// weights. Histograms of disjoint sets of rows add up entry by entry; the difference of a parent's histogram and
// one child's is the other child's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include "histograms/binning.hpp"
#include "histograms/quantise.hpp"

namespace rankwright {

constexpr std::size_t kCodes = 256;
constexpr std::size_t kAlignment = 64;  // bytes, a line of the cache

struct AlignedDelete {
    void operator()(std::int64_t* data) const { ::operator delete[](data, std::align_val_t{kAlignment}); }
};
using Histogram = std::unique_ptr<std::int64_t[], AlignedDelete>;

Histogram new_histogram(std::size_t size);

// The layout of a histogram: one slot per feature, or per byte of a row where several features share one. A
// slot has `width` sums for each of 256 codes, and padding: without it, the most frequent codes of all slots would
// fall on the same few lines of the cache. Sums that workers send are by coarse level: one slot per feature,
// without padding; only add() and subtract() serve them.
struct HistogramLayout {
    std::size_t width = 1;
    std::vector<int> n_used;  // per slot: codes in use from 0 on; unless by_level, also that of missing values
    bool by_level = false;

    std::size_t slot_size() const { return by_level ? kCoarseLevels : kCodes * width + 8; }
    std::size_t size() const { return n_used.size() * slot_size(); }

    // Sets the slots [first, last) to zero. Sums of codes that are not in use are never written or read.
    void clear(std::size_t first, std::size_t last, std::int64_t* histogram) const;
    // Adds the slots [first, last) of one histogram to another's.
    void add(std::size_t first, std::size_t last, const std::int64_t* part, std::int64_t* histogram) const;
    // Turns the sums of a parent into those of one child by subtracting the other's.
    void subtract(const std::int64_t* child, std::int64_t* parent) const;
    // The sums over all codes of one slot, `width` of them.
    std::vector<std::int64_t> slot_total(std::size_t slot, const std::int64_t* histogram) const;

  private:
    template <class Combine>
    void for_each(std::size_t first, std::size_t last, const std::int64_t* from, std::int64_t* to,
                  const Combine& combine) const;
};

// Histograms that no leaf holds, kept for the next leaf or tree. Several threads may use it at once.
class HistogramPool {
  public:
    void resize(std::size_t size);  // of every histogram
    Histogram take();
    void release(Histogram histogram);

  private:
    std::mutex mutex_;
    std::vector<Histogram> spare_;
    std::size_t size_ = 0;
};

// Overwrites the slots of the bytes listed, one each, with the sums of packed gradient and hessian over `rows`.
// Threads after the first take a histogram of the same layout from the pool.
void fill_histogram(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const Quantised& numbers,
                    std::span<const std::uint32_t> bytes, const HistogramLayout& layout, int n_threads,
                    HistogramPool& pool, std::int64_t* histogram);

// Adds the sums over `rows` to sums[i * 256 + code] for feature i of those listed.
void add_codes(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const Quantised& numbers,
               std::span<const std::uint32_t> features, int n_threads, std::span<Packed> sums);

// The number of integers that n are padded to.
std::size_t wide_width(std::size_t n);

// Several integers per row, side by side and padded with zeros to `width`, a multiple of kWideLanes.
struct WideRows {
    Histogram values;  // n_rows x width
    std::size_t n_rows = 0, width = 0;

    void resize(std::size_t rows, std::size_t n_values);  // sets all values to zero if the size changes
    std::int64_t* row(std::size_t row) { return values.get() + row * width; }
    const std::int64_t* row(std::size_t row) const { return values.get() + row * width; }
};

// Overwrites the slots of the features listed, one each, with the sums of each of a row's integers over `rows`.
void fill_wide_histogram(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, const WideRows& numbers,
                         std::span<const std::uint32_t> features, const HistogramLayout& layout, int n_threads,
                         std::int64_t* histogram);

}  // namespace rankwright
