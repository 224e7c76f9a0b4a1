// Sums over all pairs of a query's documents with different labels, under the exponential loss of RankBoost and
// MPBoost (Zhu, Chen, Zhu, Wang, Wang & Chen 2009), in time linear in documents, without visiting pairs.
//
// With label_i > label_j, d the strength of this pair of labels and s the shares, which are weights of documents:
//
//   w_ij = s_i s_j exp(-d (score_i - score_j)) = s_i exp(-d score_i) x s_j exp(d score_j)
//
// so that a sum over the pairs of two labels is a product of two sums over documents. Factors are relative to the
// lowest score of the better label, or the highest of the worse label, in their query, so that none overflows,
// however far apart scores are. Weights are then divided by their sum over all pairs of all queries, so that they
// sum to 1.
//
// Query q has the rows queries[q] .. queries[q + 1] - 1. Results do not depend on n_threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "histograms/histogram.hpp"
#include "queries/ranking.hpp"

namespace rankwright {

// With more labels, the factors of a document would take too much memory; see crossing_of_pairs.
constexpr std::size_t kMostLabels = 32;

class QueryFactors;

struct PairTask {
    Offsets queries;
    std::span<const std::uint8_t> labels;  // one code per row, 0 for the lowest label
    std::size_t n_labels;
    Doubles strengths;  // [better * n_labels + worse], positive if better > worse
    Doubles shares;     // one per row, not negative
    Doubles scores;     // one per row, finite
};

// Overwrites for each row
//
//   gradient_i = sum of w_ij d over worse documents j, minus the same sum over better ones
//   hessian_i  = sum of w_ij d^2 over both
//
// Returns the logarithm of the sum of all w_ij before their normalisation; if all weights are 0, minus infinity,
// and gradients and hessians are 0. One thread owns one query. `kept` is empty, or has one element per query,
// which is overwritten with the factors of its documents.
double pair_gradients(const PairTask& task, int n_threads, std::span<double> gradient, std::span<double> hessian,
                      std::span<QueryFactors> kept = {});

// Returns the fraction of pairs, weighted by s_i s_j, whose better document has no higher score than the worse
// one. The rows of query q, best first, are order[queries[q]] .. order[queries[q + 1] - 1].
double misordered_share(const PairTask& task, Rows order, int n_threads);

// The rows of every query, sorted for each feature by descending code, missing values last.
class SortedCodes {
  public:
    SortedCodes(const BinnedMatrix& binned, Offsets queries, int n_threads);
    std::span<const std::uint32_t> rows(std::size_t begin, std::size_t end, std::size_t feature) const {
        return {rows_.data() + begin * n_features_ + feature * (end - begin), end - begin};
    }
    // The features that have different codes in any query: thresholds on others divide no pair.
    std::span<const std::uint32_t> varying() const { return varying_; }
    std::size_t n_features() const { return n_features_; }
    std::size_t n_rows() const { return n_features_ == 0 ? 0 : rows_.size() / n_features_; }

  private:
    std::size_t n_features_;
    std::vector<std::uint32_t> rows_, varying_;
};

// A pair crosses a threshold if its documents are on different sides of it; a missing value is below all
// thresholds. Overwrites crossing[feature * kCodes + code] such that the sum over code c and all higher codes,
// without the missing one, is the sum of w_ij (times d^2 if `squared`) over the pairs that cross the threshold
// just below c. `log_sum` is the result of pair_gradients, and `factors` are those of the same scores, which are
// overwritten.
void crossing_weights(const PairTask& task, double log_sum, bool squared, const BinnedMatrix& binned,
                      const SortedCodes& sorted, int n_threads, std::span<QueryFactors> factors,
                      std::span<double> crossing);

// The factors of all queries; see query_factors.hpp.
std::vector<QueryFactors> query_factors(const PairTask& task, int n_threads);

// The same for listed pairs, for data with too many labels: rows[i] forms pairs with the rows from begins[i] to
// before ends[i]; `weights` has their weights, one row after another. Each pair is listed twice, from either
// document. Adds to `crossing`.
struct GivenPairs {
    Rows rows, begins, ends;
    Doubles weights;
};
void crossing_of_pairs(const GivenPairs& pairs, const BinnedMatrix& binned, int n_threads,
                       std::span<double> crossing);

// Overwrites sums[feature * kCodes + code] with the sum of the values of the rows with this code.
void sum_by_code(const BinnedMatrix& binned, Doubles values, int n_threads, std::span<double> sums);

}  // namespace rankwright
