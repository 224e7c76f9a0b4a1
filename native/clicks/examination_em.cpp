#include "clicks/examination_em.hpp"

#include <algorithm>
#include <cmath>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t pairs_per_run = 1024;
constexpr double lowest = 1e-9;  // examination at 0 could never change again
constexpr double highest = 1.0 - 1e-9;
constexpr double negligible = 30.0;  // a node whose log-likelihood is so far below the best has no weight

// For each class and node: the logarithm of the probability of a click on an examined document, the probability
// that only trust made such a click, the logarithm of the probability that an impression has no click, and the
// probability that one without a click was examined nevertheless. All row by row.
struct NodeTables {
    std::vector<double> log_clicked, trusted, log_unclicked, examined, log_prior;

    explicit NodeTables(const ExaminationEstimates& now) {
        for (double weight : now.prior) log_prior.push_back(std::log(weight));
        for (std::size_t kind = 0; kind < now.examination.size(); ++kind)
            for (double attraction : now.nodes) {
                const double by_trust = (1.0 - attraction) * now.trust[kind], clicked = attraction + by_trust;
                const double unclicked = 1.0 - now.examination[kind] * clicked;
                log_clicked.push_back(std::log(clicked));
                trusted.push_back(by_trust / clicked);
                log_unclicked.push_back(std::log(unclicked));
                examined.push_back(now.examination[kind] * (1.0 - clicked) / unclicked);
            }
    }
};

// What one run of pairs adds: to the objective, to the weight of each node by stratum, and by class to the
// expected examinations without a click and the expected clicks by trust.
struct RunSums {
    double objective;
    std::vector<double> weights, examined, trusted;
};

class Expectation {
  public:
    Expectation(const ClickCells& cells, const ExaminationEstimates& now, const NodeTables& tables, RunSums& sums)
        : cells_(cells), now_(now), tables_(tables), sums_(sums), weights_(now.nodes.size()) {
        sums_.objective = 0.0;
        sums_.weights.assign(now.prior.size(), 0.0);
        sums_.examined.assign(now.examination.size(), 0.0);
        sums_.trusted.assign(now.examination.size(), 0.0);
    }

    void add(std::size_t pair, double& mean, double& deviation) {
        begin_ = static_cast<std::size_t>(cells_.offsets[pair]);
        end_ = static_cast<std::size_t>(cells_.offsets[pair + 1]);
        stratum_ = static_cast<std::size_t>(cells_.strata[pair]) * weights_.size();
        sums_.objective += log_likelihoods();
        sums_.objective += normalise();
        mean = deviation = 0.0;
        for (std::size_t node = first_; node < last_; ++node) mean += weights_[node] * now_.nodes[node];
        for (std::size_t node = first_; node < last_; ++node) {
            sums_.weights[stratum_ + node] += weights_[node];
            deviation += weights_[node] * (now_.nodes[node] - mean) * (now_.nodes[node] - mean);
        }
        deviation = std::sqrt(deviation);
        for (std::size_t cell = begin_; cell < end_; ++cell) add_examined(cell);
    }

  private:
    // Fills weights_ with the logarithms of prior x likelihood, without a factor whose logarithm it returns.
    double log_likelihoods() {
        const std::size_t n_nodes = weights_.size();
        double factor = 0.0;
        std::copy_n(&tables_.log_prior[stratum_], n_nodes, weights_.begin());
        for (std::size_t cell = begin_; cell < end_; ++cell) {
            const auto kind = static_cast<std::size_t>(cells_.classes[cell]);
            const double clicked = cells_.clicked[cell], skipped = cells_.shown[cell] - clicked;
            const double* unclicked = &tables_.log_unclicked[kind * n_nodes];
            for (std::size_t node = 0; node < n_nodes; ++node) weights_[node] += skipped * unclicked[node];
            if (clicked == 0.0) continue;
            factor += clicked * std::log(now_.examination[kind]);
            const double* attracted = &tables_.log_clicked[kind * n_nodes];
            for (std::size_t node = 0; node < n_nodes; ++node) weights_[node] += clicked * attracted[node];
        }
        return factor;
    }

    // Turns logarithms into weights with sum 1, all of them in [first_, last_); returns the logarithm of their
    // sum.
    double normalise() {
        const double best = *std::max_element(weights_.begin(), weights_.end());
        const auto counts = [&](double value) { return value > best - negligible; };
        first_ =
            static_cast<std::size_t>(std::find_if(weights_.begin(), weights_.end(), counts) - weights_.begin());
        last_ =
            weights_.size() -
            static_cast<std::size_t>(std::find_if(weights_.rbegin(), weights_.rend(), counts) - weights_.rbegin());
        double total = 0.0;
        for (std::size_t node = first_; node < last_; ++node)
            total += weights_[node] = std::exp(weights_[node] - best);
        for (std::size_t node = first_; node < last_; ++node) weights_[node] /= total;
        return best + std::log(total);
    }

    void add_examined(std::size_t cell) {
        const auto kind = static_cast<std::size_t>(cells_.classes[cell]);
        const double clicked = cells_.clicked[cell], skipped = cells_.shown[cell] - clicked;
        sums_.examined[kind] += skipped * expected(&tables_.examined[kind * weights_.size()]);
        if (clicked > 0.0 && now_.trust[kind] > 0.0)
            sums_.trusted[kind] += clicked * expected(&tables_.trusted[kind * weights_.size()]);
    }

    // The mean of values, one per node.
    double expected(const double* values) const {
        double parts[4] = {};  // several sums, since one would wait for itself
        std::size_t node = first_;
        for (; node + 4 <= last_; node += 4)
            for (std::size_t part = 0; part < 4; ++part)
                parts[part] += weights_[node + part] * values[node + part];
        for (; node < last_; ++node) parts[0] += weights_[node] * values[node];
        return (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }

    const ClickCells& cells_;
    const ExaminationEstimates& now_;
    const NodeTables& tables_;
    RunSums& sums_;
    std::vector<double> weights_;
    std::size_t begin_ = 0, end_ = 0, stratum_ = 0, first_ = 0, last_ = 0;
};

// How often each class was shown and clicked, and the pairs of each stratum.
struct Totals {
    std::vector<double> shown, clicked, pairs;

    Totals(const ClickCells& cells, const ExaminationEstimates& now)
        : shown(now.examination.size()),
          clicked(now.examination.size()),
          pairs(now.prior.size() / now.nodes.size()) {
        for (std::int32_t stratum : cells.strata) pairs[static_cast<std::size_t>(stratum)] += 1.0;
        for (std::size_t cell = 0; cell < cells.classes.size(); ++cell) {
            shown[static_cast<std::size_t>(cells.classes[cell])] += cells.shown[cell];
            clicked[static_cast<std::size_t>(cells.classes[cell])] += cells.clicked[cell];
        }
    }
};

void maximise(const std::vector<RunSums>& runs, const Totals& totals, const ExaminationEstimates& estimates,
              bool prior_only) {
    const auto sum = [&](const std::vector<double> RunSums::* part, std::size_t index) {
        double total = 0.0;
        for (const RunSums& run : runs) total += (run.*part)[index];
        return total;
    };
    for (std::size_t index = 0; index < estimates.prior.size(); ++index) {
        const double pairs = totals.pairs[index / estimates.nodes.size()];
        if (pairs > 0.0) estimates.prior[index] = std::max(sum(&RunSums::weights, index) / pairs, 1e-300);
    }
    if (prior_only) return;
    for (std::size_t kind = 0; kind < estimates.examination.size(); ++kind) {
        const double unclicked = sum(&RunSums::examined, kind), trusted = sum(&RunSums::trusted, kind);
        if (kind > 0 && totals.shown[kind] > 0.0)
            estimates.examination[kind] =
                std::clamp((totals.clicked[kind] + unclicked) / totals.shown[kind], lowest, 1.0);
        if (trusted > 0.0) estimates.trust[kind] = std::clamp(trusted / (trusted + unclicked), lowest, highest);
    }
}

}  // namespace

std::vector<double> fit_examination(const ClickCells& cells, const ExaminationEstimates& estimates,
                                    bool prior_only, int max_steps, double tolerance, int n_threads,
                                    std::span<double> mean, std::span<double> deviation) {
    std::vector<RunSums> runs((mean.size() + pairs_per_run - 1) / pairs_per_run);
    const Totals totals(cells, estimates);
    std::vector<double> objectives;
    for (int step = 0;; ++step) {
        const NodeTables tables(estimates);
        parallel_ranges(mean.size(), pairs_per_run, n_threads, [&](std::size_t begin, std::size_t end) {
            Expectation expectation(cells, estimates, tables, runs[begin / pairs_per_run]);
            for (std::size_t pair = begin; pair < end; ++pair) expectation.add(pair, mean[pair], deviation[pair]);
        });
        double objective = 0.0;
        for (const RunSums& run : runs) objective += run.objective;
        const bool converged =
            !objectives.empty() && !(objective - objectives.back() > tolerance);  // or not finite
        objectives.push_back(objective);
        if (converged || step == max_steps) return objectives;
        maximise(runs, totals, estimates, prior_only);
    }
}

}  // namespace rankwright
