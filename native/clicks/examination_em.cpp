#include "clicks/examination_em.hpp"

#include <algorithm>
#include <cmath>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t pairs_per_run = 1024;
constexpr double lowest = 1e-9;      // examination at 0 could never change again
constexpr double negligible = 30.0;  // a node whose log-likelihood is so far below the best has no weight

// For each class and node, of an impression without a click: the logarithm of its probability, and the probability
// that it was examined nevertheless. Both row by row.
struct NodeTables {
    std::vector<double> log_unclicked, examined, log_nodes, log_prior;

    explicit NodeTables(const ExaminationEstimates& now) {
        for (std::size_t node = 0; node < now.nodes.size(); ++node) {
            log_nodes.push_back(std::log(now.nodes[node]));
            log_prior.push_back(std::log(now.prior[node]));
        }
        for (double examination : now.examination)
            for (double attraction : now.nodes) {
                const double unclicked = 1.0 - examination * attraction;
                log_unclicked.push_back(std::log(unclicked));
                examined.push_back(examination * (1.0 - attraction) / unclicked);
            }
    }
};

// What one run of pairs adds: to the objective, to the weight of each node, to the expected examinations of each
// class.
struct RunSums {
    double objective;
    std::vector<double> weights, examined;
};

class Expectation {
  public:
    Expectation(const ClickCells& cells, const ExaminationEstimates& now, const NodeTables& tables, RunSums& sums)
        : cells_(cells), now_(now), tables_(tables), sums_(sums), weights_(now.nodes.size()) {
        sums_.objective = 0.0;
        sums_.weights.assign(now.nodes.size(), 0.0);
        sums_.examined.assign(now.examination.size(), 0.0);
    }

    void add(std::size_t pair, double& mean, double& deviation) {
        begin_ = static_cast<std::size_t>(cells_.offsets[pair]);
        end_ = static_cast<std::size_t>(cells_.offsets[pair + 1]);
        sums_.objective += log_likelihoods();
        sums_.objective += normalise();
        mean = deviation = 0.0;
        for (std::size_t node = first_; node < last_; ++node) mean += weights_[node] * now_.nodes[node];
        for (std::size_t node = first_; node < last_; ++node) {
            sums_.weights[node] += weights_[node];
            deviation += weights_[node] * (now_.nodes[node] - mean) * (now_.nodes[node] - mean);
        }
        deviation = std::sqrt(deviation);
        for (std::size_t cell = begin_; cell < end_; ++cell) add_examined(cell);
    }

  private:
    // Fills weights_ with the logarithms of prior x likelihood, without a factor whose logarithm it returns.
    double log_likelihoods() {
        const std::size_t n_nodes = weights_.size();
        double clicks = 0.0, factor = 0.0;
        std::copy(tables_.log_prior.begin(), tables_.log_prior.end(), weights_.begin());
        for (std::size_t cell = begin_; cell < end_; ++cell) {
            const auto kind = static_cast<std::size_t>(cells_.classes[cell]);
            const double clicked = cells_.clicked[cell], skipped = cells_.shown[cell] - clicked;
            clicks += clicked;
            factor += clicked * std::log(now_.examination[kind]);
            const double* unclicked = &tables_.log_unclicked[kind * n_nodes];
            for (std::size_t node = 0; node < n_nodes; ++node) weights_[node] += skipped * unclicked[node];
        }
        for (std::size_t node = 0; node < n_nodes; ++node) weights_[node] += clicks * tables_.log_nodes[node];
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
        const double* examined = &tables_.examined[kind * weights_.size()];
        double parts[4] = {};  // several sums, since one would wait for itself
        std::size_t node = first_;
        for (; node + 4 <= last_; node += 4)
            for (std::size_t part = 0; part < 4; ++part)
                parts[part] += weights_[node + part] * examined[node + part];
        for (; node < last_; ++node) parts[0] += weights_[node] * examined[node];
        const double chance = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        sums_.examined[kind] += cells_.clicked[cell] + (cells_.shown[cell] - cells_.clicked[cell]) * chance;
    }

    const ClickCells& cells_;
    const ExaminationEstimates& now_;
    const NodeTables& tables_;
    RunSums& sums_;
    std::vector<double> weights_;
    std::size_t begin_ = 0, end_ = 0, first_ = 0, last_ = 0;
};

void maximise(const std::vector<RunSums>& runs, std::span<const double> shown, std::size_t n_pairs,
              const ExaminationEstimates& estimates) {
    for (std::size_t node = 0; node < estimates.prior.size(); ++node) {
        double weight = 0.0;
        for (const RunSums& run : runs) weight += run.weights[node];
        estimates.prior[node] = std::max(weight / static_cast<double>(n_pairs), 1e-300);
    }
    for (std::size_t kind = 1; kind < estimates.examination.size(); ++kind) {
        double examined = 0.0;
        for (const RunSums& run : runs) examined += run.examined[kind];
        if (shown[kind] > 0.0) estimates.examination[kind] = std::clamp(examined / shown[kind], lowest, 1.0);
    }
}

}  // namespace

std::vector<double> fit_examination(const ClickCells& cells, const ExaminationEstimates& estimates, int max_steps,
                                    double tolerance, int n_threads, std::span<double> mean,
                                    std::span<double> deviation) {
    std::vector<RunSums> runs((mean.size() + pairs_per_run - 1) / pairs_per_run);
    std::vector<double> shown(estimates.examination.size()), objectives;
    for (std::size_t cell = 0; cell < cells.classes.size(); ++cell)
        shown[static_cast<std::size_t>(cells.classes[cell])] += cells.shown[cell];
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
        maximise(runs, shown, mean.size(), estimates);
    }
}

}  // namespace rankwright
