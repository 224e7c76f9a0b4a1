#include "metrics/smooth_dcg.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr double kMaxExponent = 40.0;  // closeness below exp(-40), about 4e-18, is taken as 0

struct Document {
    double score, gain;
};

// `ranked`: the documents by descending score.
double smooth_dcg_of_query(const std::vector<Document>& ranked, double sigma) {
    // A document's closeness to itself is 1.
    std::vector<double> total_closeness(ranked.size(), 1.0), weighted_gain;
    for (const Document& document : ranked) weighted_gain.push_back(document.gain);
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
        for (std::size_t other = rank + 1; other < ranked.size(); ++other) {
            const double distance = ranked[rank].score - ranked[other].score;
            if (distance * distance > kMaxExponent * sigma) break;
            const double closeness = std::exp(-distance * distance / sigma);
            total_closeness[rank] += closeness;
            total_closeness[other] += closeness;
            weighted_gain[rank] += closeness * ranked[other].gain;
            weighted_gain[other] += closeness * ranked[rank].gain;
        }
    }
    double value = 0.0;
    for (std::size_t rank = 0; rank < ranked.size(); ++rank)
        value += weighted_gain[rank] / total_closeness[rank] / std::log2(2.0 + static_cast<double>(rank));
    return value;
}

}  // namespace

void smooth_dcg(Offsets offsets, Doubles scores, Doubles gains, double sigma, int n_threads,
                std::span<double> values) {
    parallel_for(values.size(), n_threads, [&](std::size_t query) {
        std::vector<Document> ranked;
        for (auto row = static_cast<std::size_t>(offsets[query]);
             row < static_cast<std::size_t>(offsets[query + 1]); ++row)
            ranked.push_back({scores[row], gains[row]});
        // Equal scores are ordered by gain, so that the sums do not depend on the order of rows.
        std::sort(ranked.begin(), ranked.end(), [](const Document& a, const Document& b) {
            return std::pair(a.score, a.gain) > std::pair(b.score, b.gain);
        });
        values[query] = smooth_dcg_of_query(ranked, sigma);
    });
}

}  // namespace rankwright
