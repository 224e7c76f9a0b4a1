// Sorting the crossings of a sweep (see metrics/sweep.hpp) by the alpha at which they happen.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace rankwright {

// Sorts records by their member `alpha`: a bucket sort over x / (scale + |x|), which spreads ratios evenly, with
// about one record per bucket. The worst case is n log n. The buffers are kept for the next call.
template <class Record>
class AlphaSorter {
  public:
    void sort(std::vector<Record>& records) {
        const auto before = [](const Record& a, const Record& b) { return a.alpha < b.alpha; };
        const std::size_t n = records.size();
        if (n < kSmall) {
            std::sort(records.begin(), records.end(), before);
            return;
        }
        distribute(records);
        for (std::size_t bucket = 0, begin = 0; bucket < ends_.size(); begin = ends_[bucket++])
            if (ends_[bucket] - begin > 1)
                std::sort(distributed_.begin() + static_cast<std::ptrdiff_t>(begin),
                          distributed_.begin() + static_cast<std::ptrdiff_t>(ends_[bucket]), before);
        // Rounding may put nearly equal alphas into the wrong buckets.
        if (!std::is_sorted(distributed_.begin(), distributed_.end(), before))
            std::sort(distributed_.begin(), distributed_.end(), before);
        records.swap(distributed_);
    }

  private:
    static constexpr std::size_t kSmall = 64, kSample = 31;

    void distribute(const std::vector<Record>& records) {
        const std::size_t n = records.size(), n_buckets = std::bit_ceil(n);
        const double scale = typical_size(records);
        const auto key_of = [scale](const Record& record) {
            return record.alpha / (scale + std::abs(record.alpha));
        };
        keys_.resize(n);
        double lowest = 1.0, highest = -1.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double key = keys_[i] = key_of(records[i]);
            lowest = std::min(lowest, key);
            highest = std::max(highest, key);
        }
        const double width = highest > lowest ? static_cast<double>(n_buckets - 1) / (highest - lowest) : 0.0;
        ends_.assign(n_buckets, 0);
        buckets_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            buckets_[i] = std::min(n_buckets - 1, static_cast<std::size_t>((keys_[i] - lowest) * width));
            ++ends_[buckets_[i]];
        }
        std::size_t total = 0;
        for (std::size_t& end : ends_)
            end = std::exchange(total, total + end);  // where each bucket begins, until it is filled
        distributed_.resize(n);
        for (std::size_t i = 0; i < n; ++i) distributed_[ends_[buckets_[i]]++] = records[i];
    }

    // The median magnitude of a sample of alphas, never 0.
    double typical_size(const std::vector<Record>& records) {
        std::array<double, kSample> sizes;
        for (std::size_t i = 0; i < kSample; ++i) sizes[i] = std::abs(records[i * records.size() / kSample].alpha);
        std::nth_element(sizes.begin(), sizes.begin() + kSample / 2, sizes.end());
        return std::clamp(sizes[kSample / 2], 1e-300, 1e300);
    }

    std::vector<double> keys_;
    std::vector<std::size_t> buckets_, ends_;
    std::vector<Record> distributed_;
};

}  // namespace rankwright
