// The best documents of a search.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rankwright {

struct ScoredDocument {
    double score;
    std::int64_t document;
};

// The n best documents so far. Documents come in the order of their numbers, so that of equal ones the first stay.
class Best {
  public:
    explicit Best(std::size_t n) : n_(n) {}

    // Only documents with a higher score can still belong to the best.
    double threshold() const {
        return heap_.size() < n_ ? -std::numeric_limits<double>::infinity() : heap_.front().score;
    }
    void add(double score, std::int64_t document) {
        if (heap_.size() == n_) {
            if (!(score > heap_.front().score)) return;
            std::pop_heap(heap_.begin(), heap_.end(), is_better);
            heap_.pop_back();
        }
        heap_.push_back({score, document});
        std::push_heap(heap_.begin(), heap_.end(), is_better);
    }
    std::vector<ScoredDocument> sorted() && {
        std::sort_heap(heap_.begin(), heap_.end(), is_better);
        return std::move(heap_);
    }

  private:
    static bool is_better(const ScoredDocument& a, const ScoredDocument& b) {
        return a.score != b.score ? a.score > b.score : a.document < b.document;
    }
    std::size_t n_;
    std::vector<ScoredDocument> heap_;  // the worst at the front
};

}  // namespace rankwright
