// Sums over all pairs of a query's documents with different labels, under the exponential loss of RankBoost and
// MPBoost (Zhu, Chen, Zhu, Wang, Wang & Chen 2009), at a cost linear in documents: no pair is ever looked at.
//
// With label_i above label_j, d the strength of that pair of labels and s the documents' shares:
//
//   w_ij = s_i s_j exp(-d (score_i - score_j)) = s_i exp(-d score_i) x s_j exp(d score_j)
//
// so that a sum over the pairs of two labels is a product of two sums over documents. Every factor is taken
// relative to the lowest score of the better label, or the highest of the worse one, in its query: none overflows,
// however far scores drift apart. Weights are then divided by their sum over all pairs of all queries, and sum to
// one.
//
// Query q holds the rows queries[q] .. queries[q + 1] - 1. Results depend neither on n_threads nor on its timing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rankwright/binning.hpp"
#include "rankwright/ranking.hpp"

namespace rankwright {

// Beyond so many labels a document's factors would take more room than is good; see crossing_of_pairs.
constexpr std::size_t kMostLabels = 32;

struct PairTask {
    Offsets queries;
    std::span<const std::uint8_t> labels;  // a code a row, 0 the lowest label
    std::size_t n_labels;
    Doubles strengths;  // [better * n_labels + worse], above 0 where the first is the higher code
    Doubles shares;     // one a row, not below 0
    Doubles scores;     // one a row, finite
};

// Overwrites, a row each:
//
//   gradient_i = sum of w_ij d over documents j that are worse, less the same over those that are better
//   hessian_i  = sum of w_ij d^2 over both
//
// Returns the logarithm of the sum of all w_ij before they are made to sum to one; minus infinity, and zeros,
// where no pair has a weight. One thread owns one query.
double pair_gradients(const PairTask& task, int n_threads, std::span<double> gradient, std::span<double> hessian);

// Returns the share, by s_i s_j, of pairs whose better document has no higher score than the worse one. Query q's
// rows, best first, are order[queries[q]] .. order[queries[q + 1] - 1].
double misordered_share(const PairTask& task, Rows order, int n_threads);

// The rows of every query once for each feature, highest code first and missing values last.
class SortedCodes {
  public:
    SortedCodes(const BinnedMatrix& binned, Offsets queries, int n_threads);
    std::span<const std::uint32_t> rows(std::size_t begin, std::size_t end, std::size_t feature) const {
        return {rows_.data() + begin * n_features_ + feature * (end - begin), end - begin};
    }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_rows() const { return n_features_ == 0 ? 0 : rows_.size() / n_features_; }

  private:
    std::size_t n_features_;
    std::vector<std::uint32_t> rows_;
};

// Entries that a feature takes in the sums below: one a code, the last for missing values.
constexpr std::size_t kCodes = 256;

// A pair crosses a threshold if its documents lie on two sides of it; a missing value lies below all. Overwrites
// crossing[feature * kCodes + code] such that the sum over code c and all above, the missing one's left out, is
// the sum of w_ij (times d^2 if `squared`) over pairs that cross a threshold just below c. `log_sum` is what
// pair_gradients returned.
void crossing_weights(const PairTask& task, double log_sum, bool squared, const BinnedMatrix& binned,
                      const SortedCodes& sorted, int n_threads, std::span<double> crossing);

// The same for pairs that are given, where labels are too many: row i's pairs are with rows begins[i] ..
// ends[i] - 1, and weigh weights[k], k counting on from row to row. Each pair is given from both its ends.
// Adds to `crossing`.
struct GivenPairs {
    Rows rows, begins, ends;
    Doubles weights;
};
void crossing_of_pairs(const GivenPairs& pairs, const BinnedMatrix& binned, int n_threads,
                       std::span<double> crossing);

// Overwrites sums[feature * kCodes + code] with the sum of the values of the rows that have it.
void sum_by_code(const BinnedMatrix& binned, Doubles values, int n_threads, std::span<double> sums);

}  // namespace rankwright
