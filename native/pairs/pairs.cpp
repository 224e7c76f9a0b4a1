#include "pairs/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pairs/query_factors.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kSweepChunks = 16;  // constant, because sums must not depend on the number of threads

// Adds the gradients of one query, relative to its largest weight, and returns the sum of its weights.
double add_query(const PairTask& task, QueryRows rows, QueryFactors& factors, std::span<double> gradient,
                 std::span<double> hessian) {
    const std::size_t n = task.n_labels;
    double sum = 0.0;
    for (std::size_t better = 1; better < n; ++better) {
        for (std::size_t worse = 0; worse < better; ++worse) {
            if (!factors.both_occur(better, worse)) continue;
            const double strength = task.strengths[better * n + worse];
            const double scale = std::exp(factors.log_scale(task, better, worse) - factors.log_scale());
            const double of_better = factors.sum(better, worse), of_worse = factors.sum(worse, better);
            sum += scale * of_better * of_worse;
            for (std::size_t row = rows.begin; row < rows.end; ++row) {
                const std::size_t label = task.labels[row];
                if (label != better && label != worse) continue;
                const bool is_better = label == better;
                const double weight = scale * factors.factors(row - rows.begin)[is_better ? worse : better] *
                                      (is_better ? of_worse : of_better);
                gradient[row] += (is_better ? strength : -strength) * weight;
                hessian[row] += strength * strength * weight;
            }
        }
    }
    return sum;
}

// Features that are swept together: the sums of a feature depend on each other from document to document, and
// other features fill the wait.
constexpr std::size_t kTogether = 4;

// Adds half the crossing weights of one query for some features. When a document moves to the upper side of the
// threshold, its pairs with documents below begin to cross, and its pairs with documents above no longer do:
// sides[partner, label] is half the sum of the factors, for this label, of the partners below minus that of the
// partners above. Labels is n_labels, or 0 for any number.
template <std::size_t Labels, std::size_t Features>
void sweep_features(const PairTask& task, const double* factors, const double* start, QueryRows rows,
                    const BinnedMatrix& binned, const SortedCodes& sorted, const std::uint32_t* features,
                    double* __restrict crossing) {
    constexpr std::size_t kLabels = Labels == 0 ? kMostLabels : Labels;
    const std::size_t n = Labels == 0 ? task.n_labels : Labels;
    const std::uint8_t* const labels = task.labels.data();
    const std::uint8_t* codes[Features];
    const std::uint32_t* order[Features];
    double sides[Features][kLabels * kLabels];
    for (std::size_t f = 0; f < Features; ++f) {
        std::copy_n(start, n * n, sides[f]);
        codes[f] = binned.column(features[f]);
        order[f] = sorted.rows(rows.begin, rows.end, features[f]).data();
    }
    for (std::size_t position = 0; position < rows.end - rows.begin; ++position) {
#pragma GCC unroll 4
        for (std::size_t f = 0; f < Features; ++f) {
            const std::uint32_t row = order[f][position];
            const double* row_factors = factors + (row - rows.begin) * n;
            const std::size_t label = labels[row];
            double change = row_factors[0] * sides[f][label];
            for (std::size_t partner = 1; partner < n; ++partner)
                change += row_factors[partner] * sides[f][partner * n + label];
            for (std::size_t partner = 0; partner < n; ++partner)
                sides[f][label * n + partner] -= row_factors[partner];
            crossing[f * kCodes + codes[f][row]] += change;
        }
    }
}

template <std::size_t Labels>
void sweep(const PairTask& task, const double* factors, const double* start, QueryRows rows,
           const BinnedMatrix& binned, const SortedCodes& sorted, double* crossing) {
    const std::span<const std::uint32_t> features = sorted.varying();
    std::size_t slot = 0;
    for (; slot + kTogether <= features.size(); slot += kTogether)
        sweep_features<Labels, kTogether>(task, factors, start, rows, binned, sorted, &features[slot],
                                          crossing + slot * kCodes);
    for (; slot < features.size(); ++slot)
        sweep_features<Labels, 1>(task, factors, start, rows, binned, sorted, &features[slot],
                                  crossing + slot * kCodes);
}

using Sweep = decltype(&sweep<0>);

Sweep sweep_for(std::size_t n_labels) {
    switch (n_labels) {
        case 2:
            return sweep<2>;
        case 3:
            return sweep<3>;
        case 4:
            return sweep<4>;
        case 5:
            return sweep<5>;
        default:
            return sweep<0>;
    }
}

// Multiplies the scales into the factors of the better documents of a query, and computes the first `sides`.
void scale_factors(const PairTask& task, double log_sum, bool squared, QueryRows rows, QueryFactors& factors,
                   std::vector<double>& scales, std::vector<double>& start) {
    const std::size_t n = task.n_labels;
    std::fill(scales.begin(), scales.end(), 1.0);
    for (std::size_t better = 1; better < n; ++better)
        for (std::size_t worse = 0; worse < better; ++worse) {
            const double strength = task.strengths[better * n + worse];
            if (factors.both_occur(better, worse))
                scales[better * n + worse] = (squared ? strength * strength : 1.0) *
                                             std::exp(factors.log_scale(task, better, worse) - log_sum);
        }
    std::fill(start.begin(), start.end(), 0.0);
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
        double* row_factors = factors.factors(row - rows.begin);
        const std::size_t label = task.labels[row];
        for (std::size_t partner = 0; partner < n; ++partner) {
            row_factors[partner] *= scales[label * n + partner];
            start[label * n + partner] += row_factors[partner];
        }
    }
    for (double& sum : start) sum /= 2.0;
}

template <std::size_t Features>
void add_by_code(const BinnedMatrix& binned, Doubles values, std::size_t first, double* __restrict sums) {
    const std::uint8_t* codes[Features];
    for (std::size_t f = 0; f < Features; ++f) codes[f] = binned.column(first + f);
    for (std::size_t row = 0; row < values.size(); ++row) {
#pragma GCC unroll 4
        for (std::size_t f = 0; f < Features; ++f) sums[f * kCodes + codes[f][row]] += values[row];
    }
}

// Sort key of a code: wraps around for a missing value, which becomes the lowest.
std::uint8_t height(std::uint8_t code) { return static_cast<std::uint8_t>(code + 1); }

}  // namespace

double pair_gradients(const PairTask& task, int n_threads, std::span<double> gradient, std::span<double> hessian,
                      std::span<QueryFactors> kept) {
    const std::size_t n_queries = task.queries.size() - 1;
    std::vector<double> log_scales(n_queries), sums(n_queries);
    parallel_ranges(n_queries, 16, n_threads, [&](std::size_t begin, std::size_t end) {
        QueryFactors forgotten(task.n_labels);
        for (std::size_t query = begin; query < end; ++query) {
            QueryFactors& factors = kept.empty() ? forgotten : kept[query];
            const QueryRows rows = rows_of(task.queries, query);
            std::fill(gradient.data() + rows.begin, gradient.data() + rows.end, 0.0);
            std::fill(hessian.data() + rows.begin, hessian.data() + rows.end, 0.0);
            factors.fill(task, rows);
            log_scales[query] = factors.log_scale();
            if (factors.has_pairs()) sums[query] = add_query(task, rows, factors, gradient, hessian);
        }
    });
    const double largest = n_queries == 0 ? -kInfinity : *std::ranges::max_element(log_scales);
    if (largest == -kInfinity) return largest;
    double total = 0.0;
    for (std::size_t query = 0; query < n_queries; ++query)
        total += sums[query] * std::exp(log_scales[query] - largest);
    if (!(total > 0.0)) return -kInfinity;
    parallel_ranges(n_queries, 64, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t query = begin; query < end; ++query) {
            const QueryRows rows = rows_of(task.queries, query);
            const double scale = std::exp(log_scales[query] - largest) / total;
            for (std::size_t row = rows.begin; row < rows.end; ++row)
                gradient[row] *= scale, hessian[row] *= scale;
        }
    });
    return largest + std::log(total);
}

double misordered_share(const PairTask& task, Rows order, int n_threads) {
    const std::size_t n_queries = task.queries.size() - 1;
    std::vector<double> wrong(n_queries), all(n_queries);
    parallel_ranges(n_queries, 16, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> above(task.n_labels);  // sum of the shares of each label, down to the current score
        for (std::size_t query = begin; query < end; ++query) {
            const QueryRows rows = rows_of(task.queries, query);
            std::fill(above.begin(), above.end(), 0.0);
            for (std::size_t first = rows.begin, last = first; first < rows.end; first = last) {
                const double score = task.scores[static_cast<std::size_t>(order[first])];
                for (; last < rows.end && task.scores[static_cast<std::size_t>(order[last])] == score; ++last) {
                    const auto row = static_cast<std::size_t>(order[last]);
                    above[task.labels[row]] += task.shares[row];
                }
                for (std::size_t position = first; position < last; ++position) {
                    const auto row = static_cast<std::size_t>(order[position]);
                    double worse = 0.0;
                    for (std::size_t label = 0; label < task.labels[row]; ++label) worse += above[label];
                    wrong[query] += task.shares[row] * worse;
                }
            }
            double worse = 0.0;
            for (double share : above) all[query] += share * worse, worse += share;
        }
    });
    double of_wrong = 0.0, of_all = 0.0;
    for (std::size_t query = 0; query < n_queries; ++query) of_wrong += wrong[query], of_all += all[query];
    return of_all > 0.0 ? of_wrong / of_all : 0.0;
}

SortedCodes::SortedCodes(const BinnedMatrix& binned, Offsets queries, int n_threads)
    : n_features_(binned.n_features), rows_(binned.n_rows * binned.n_features) {
    parallel_ranges(queries.size() - 1, 16, n_threads, [&](std::size_t first, std::size_t last) {
        std::vector<std::uint32_t> starts(kCodes + 1);
        for (std::size_t query = first; query < last; ++query) {
            const QueryRows rows = rows_of(queries, query);
            for (std::size_t feature = 0; feature < n_features_; ++feature) {
                const std::uint8_t* codes = binned.column(feature);
                std::fill(starts.begin(), starts.end(), 0);
                for (std::size_t row = rows.begin; row < rows.end; ++row) ++starts[kCodes - height(codes[row])];
                for (std::size_t code = 1; code <= kCodes; ++code) starts[code] += starts[code - 1];
                std::uint32_t* sorted =
                    rows_.data() + rows.begin * n_features_ + feature * (rows.end - rows.begin);
                for (std::size_t row = rows.begin; row < rows.end; ++row)
                    sorted[starts[kCodes - 1 - height(codes[row])]++] = static_cast<std::uint32_t>(row);
            }
        }
    });
    for (std::size_t feature = 0; feature < n_features_; ++feature) {
        const std::uint8_t* codes = binned.column(feature);
        for (std::size_t query = 0; query + 1 < queries.size(); ++query) {
            const QueryRows own = rows_of(queries, query);
            const auto by_code = rows(own.begin, own.end, feature);
            if (by_code.empty() || codes[by_code.front()] == codes[by_code.back()]) continue;
            varying_.push_back(static_cast<std::uint32_t>(feature));
            break;
        }
    }
}

std::vector<QueryFactors> query_factors(const PairTask& task, int n_threads) {
    std::vector<QueryFactors> factors(task.queries.size() - 1, QueryFactors(task.n_labels));
    parallel_for(factors.size(), n_threads,
                 [&](std::size_t query) { factors[query].fill(task, rows_of(task.queries, query)); });
    return factors;
}

void crossing_weights(const PairTask& task, double log_sum, bool squared, const BinnedMatrix& binned,
                      const SortedCodes& sorted, int n_threads, std::span<QueryFactors> factors,
                      std::span<double> crossing) {
    const std::size_t n_queries = factors.size(), n = task.n_labels, n_varying = sorted.varying().size();
    const std::size_t n_chunks = std::min(n_queries, kSweepChunks);
    const Sweep run = sweep_for(n);
    std::vector<std::vector<double>> parts(n_chunks);
    parallel_for(n_chunks, n_threads, [&](std::size_t chunk) {
        std::vector<double> scales(n * n), start(n * n);
        parts[chunk].assign(n_varying * kCodes, 0.0);
        for (std::size_t query = chunk * n_queries / n_chunks; query < (chunk + 1) * n_queries / n_chunks;
             ++query) {
            if (!factors[query].has_pairs()) continue;
            const QueryRows rows = rows_of(task.queries, query);
            scale_factors(task, log_sum, squared, rows, factors[query], scales, start);
            run(task, factors[query].factors(0), start.data(), rows, binned, sorted, parts[chunk].data());
        }
    });
    std::fill(crossing.begin(), crossing.end(), 0.0);
    for (std::size_t slot = 0; slot < n_varying; ++slot) {
        double* sums = crossing.data() + sorted.varying()[slot] * kCodes;
        for (const std::vector<double>& part : parts)
            for (std::size_t code = 0; code < kCodes; ++code) sums[code] += 2.0 * part[slot * kCodes + code];
    }
}

void crossing_of_pairs(const GivenPairs& pairs, const BinnedMatrix& binned, int n_threads,
                       std::span<double> crossing) {
    parallel_for(binned.n_features, n_threads, [&](std::size_t feature) {
        const std::uint8_t* codes = binned.column(feature);
        const double* weight = pairs.weights.data();
        for (std::size_t index = 0; index < pairs.rows.size(); ++index) {
            const std::uint8_t code = codes[pairs.rows[index]], own_height = height(code);
            double change = 0.0;
            for (std::int64_t other = pairs.begins[index]; other < pairs.ends[index]; ++other, ++weight) {
                const std::uint8_t other_height = height(codes[other]);
                change += *weight * ((own_height > other_height) - (own_height < other_height));
            }
            crossing[feature * kCodes + code] += change;
        }
    });
}

void sum_by_code(const BinnedMatrix& binned, Doubles values, int n_threads, std::span<double> sums) {
    parallel_ranges(binned.n_features, kTogether, n_threads, [&](std::size_t first, std::size_t last) {
        std::fill(sums.data() + first * kCodes, sums.data() + last * kCodes, 0.0);
        if (last - first == kTogether)
            add_by_code<kTogether>(binned, values, first, sums.data() + first * kCodes);
        else
            for (std::size_t feature = first; feature < last; ++feature)
                add_by_code<1>(binned, values, feature, sums.data() + feature * kCodes);
    });
}

}  // namespace rankwright
