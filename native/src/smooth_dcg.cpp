#include "rankwright/smooth_dcg.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

constexpr double kFar = 40.0;  // exp(-40) adds nothing to a sum that holds a 1

struct Document {
    double score, gain;
};

double value_of(const std::vector<Document>& ranked, double sigma) {
    double value = 0.0;
    std::size_t first = 0;
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
        const auto far = [&](std::size_t other) {
            const double distance = ranked[other].score - ranked[rank].score;
            return distance * distance > kFar * sigma;
        };
        while (far(first)) ++first;
        double near = 0.0, gain = 0.0;
        for (std::size_t other = first; other < ranked.size() && !far(other); ++other) {
            const double distance = ranked[other].score - ranked[rank].score;
            const double closeness = std::exp(-distance * distance / sigma);
            near += closeness;
            gain += closeness * ranked[other].gain;
        }
        value += gain / near / std::log2(2.0 + static_cast<double>(rank));
    }
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
        // By gain between equal scores, so that the order of rows does not change a bit of the sums.
        std::sort(ranked.begin(), ranked.end(), [](const Document& a, const Document& b) {
            return std::pair(a.score, a.gain) > std::pair(b.score, b.gain);
        });
        values[query] = value_of(ranked, sigma);
    });
}

}  // namespace rankwright
