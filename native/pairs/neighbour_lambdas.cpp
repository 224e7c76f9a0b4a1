#include "pairs/neighbour_lambdas.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "histograms/sampling.hpp"
#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kChunk = 32;  // queries
constexpr double kParts = 1024.0, kLargest = 1e12;
constexpr double kLowest = -80.0;  // of a score, below the best: its odds are then still 32-bit floats

// Adds a number to a hash, rounded, so that the last bits of a score do not change the noise.
std::uint64_t mixed(std::uint64_t hash, double number) {
    const double rounded = std::nearbyint(std::clamp(number, -kLargest, kLargest) * kParts);
    hash = (hash ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(rounded))) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

class QueryNeighbours {
  public:
    QueryNeighbours(const PairLoss& loss, const RandomOrders& orders) : loss_(loss), orders_(orders) {}

    void add(std::size_t query, const Lambdas& lambdas) {
        load(query);
        const std::size_t n = ranked_.size();
        for (std::int32_t order = 0; order < orders_.n_orders; ++order) {
            draw(static_cast<std::uint64_t>(order) * n);
            for (std::size_t rank = 0; rank + 1 < n; ++rank)
                add_pair(order_[rank], order_[rank + 1], weights_[rank]);
        }
        const double weight = loss_.query_weights.empty() ? 1.0 : loss_.query_weights[query];
        for (std::size_t rank = 0; rank < n; ++rank) {
            const auto row = static_cast<std::size_t>(ranked_[rank]);
            lambdas.gradient[row] = weight * gradient_[rank];
            lambdas.hessian[row] = weight * hessian_[rank];
        }
    }

  private:
    void load(std::size_t query) {
        const auto first = static_cast<std::size_t>(loss_.queries[query]);
        const std::size_t n = static_cast<std::size_t>(loss_.queries[query + 1]) - first;
        ranked_ = loss_.order.subspan(first, n);
        for (std::vector<double>* numbers : {&labels_, &odds_, &gradient_, &hessian_}) numbers->assign(n, 0.0);
        order_.resize(n);
        keys_.resize(n + kCountLanes);
        positions_.resize(n + kCountLanes);
        for (std::size_t rank = weights_.size(); rank < n; ++rank)
            weights_.push_back(orders_.scale / (orders_.n_orders * std::log2(static_cast<double>(rank) + 2.0)));
        seed_ = orders_.seed;
        for (std::size_t rank = 0; rank < n; ++rank) {
            const double score = at(loss_.scores, ranked_[rank]), best = at(loss_.scores, ranked_[0]);
            labels_[rank] = at(loss_.labels, ranked_[rank]);
            odds_[rank] = std::max(loss_.sigma * (score - best), kLowest);
            seed_ = mixed(mixed(seed_, score), labels_[rank]);
        }
        exponentiate(odds_.data(), static_cast<std::int64_t>(n), path_);
    }

    // score + noise, as odds: the logarithm of u / (1 - u) has the logistic distribution.
    void draw(std::uint64_t first) {
        const std::size_t n = order_.size();
        for (std::size_t rank = 0; rank < n; ++rank) {
            const double u = uniform(seed_, first + rank);
            keys_[rank] = static_cast<float>(odds_[rank] * (u / (1.0 - u)));
        }
        if (n >= kCountBelow) {
            std::iota(order_.begin(), order_.end(), 0u);
            std::ranges::stable_sort(order_, std::ranges::greater(),
                                     [&](std::uint32_t rank) { return keys_[rank]; });
            return;
        }
        count_above(keys_.data(), static_cast<std::int64_t>(n), positions_.data(), path_);
        for (std::uint32_t rank = 0; rank < n; ++rank) order_[static_cast<std::size_t>(positions_[rank])] = rank;
    }

    // Without branches: which of the two has the higher label cannot be predicted. Equal labels add zeros.
    void add_pair(std::size_t upper, std::size_t lower, double weight) {
        const double difference = labels_[upper] - labels_[lower], sum = odds_[upper] + odds_[lower];
        const double of_upper = odds_[upper] / sum, of_lower = odds_[lower] / sum;
        const double push = weight * difference * (difference > 0.0 ? of_lower : of_upper);
        const double curvature = std::abs(push) * loss_.sigma * (difference > 0.0 ? of_upper : of_lower);
        gradient_[upper] += push;
        gradient_[lower] -= push;
        hessian_[upper] += curvature;
        hessian_[lower] += curvature;
    }

    const PairLoss& loss_;
    const RandomOrders& orders_;
    std::uint64_t seed_ = 0;
    Rows ranked_;
    std::vector<double> labels_, odds_, gradient_, hessian_;  // by rank
    const SimdPath path_ = widest_path();
    std::vector<float> keys_;              // by rank
    std::vector<std::int32_t> positions_;  // in the random order, by rank
    std::vector<std::uint32_t> order_;     // ranks in the random order
    std::vector<double> weights_;          // of a pair whose labels differ by 1, by the rank of the upper document
};

}  // namespace

void neighbour_lambdas(const PairLoss& loss, const RandomOrders& orders, int n_threads, Lambdas lambdas) {
    parallel_ranges(loss.queries.size() - 1, kChunk, n_threads, [&](std::size_t first, std::size_t last) {
        QueryNeighbours neighbours(loss, orders);
        for (std::size_t query = first; query < last; ++query) neighbours.add(query, lambdas);
    });
}

}  // namespace rankwright
