// EM for click models in which a document is clicked if it is examined and attracts, both independently; or if it
// is examined and trusted, although it does not attract (trust bias).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

// Impressions summed by pair of query and document and by examination class (in the position-based model the
// position, in the user browsing model the position and that of the last click). The cells of pair p are
// [offsets[p], offsets[p + 1]); each has its class, how often it was shown and how often clicked, also as weights.
// Pairs of one stratum share a distribution of attraction.
struct ClickCells {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> strata;
    std::span<const std::int32_t> classes;
    std::span<const double> shown;
    std::span<const double> clicked;
};

// Estimates, which are starting values too: by stratum the fraction of pairs whose attraction is each of `nodes`,
// with sum 1, and the examination and trust of each class, in (0, 1] and [0, 1). The examination of class 0 and a
// trust of 0 keep their values. All nodes are in (0, 1).
struct ExaminationEstimates {
    std::span<const double> nodes;
    std::span<double> prior;
    std::span<double> examination;
    std::span<double> trust;
};

// Maximises the sum over pairs of log(sum over nodes a of prior[stratum, a] x product over the pair's cells of
// (g b)^clicked (1 - g b)^(shown - clicked)), with g the examination of the cell's class, t its trust, and
// b = a + (1 - a) t. Attraction is integrated
// out, since to maximise over it as well would bias examination where pairs are shown a few times only. With
// prior_only examination and trust keep their values. Ends after
// max_steps, or when a step raises the objective by at most tolerance. Writes each pair's
// posterior mean and standard deviation of attraction; returns the objective before every step and after the last.
// Pairs are divided into fixed runs whose sums are added in order, so that n_threads does not matter.
std::vector<double> fit_examination(const ClickCells& cells, const ExaminationEstimates& estimates,
                                    bool prior_only, int max_steps, double tolerance, int n_threads,
                                    std::span<double> mean, std::span<double> deviation);

}  // namespace rankwright
