#include "pairs/neighbour_lambdas.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "histograms/sampling.hpp"
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

// A document's position in an order: the largest odds first, of equal ones the better rank.
using Position = std::uint64_t;

Position position(float odds, std::size_t rank) {  // positive numbers are ordered as their bits are
    return std::uint64_t{std::bit_cast<std::uint32_t>(odds)} << 32 |
           (0xffffffffu - static_cast<std::uint32_t>(rank));
}

std::size_t rank_of(Position position) { return 0xffffffffu - static_cast<std::uint32_t>(position); }

class QueryNeighbours {
  public:
    QueryNeighbours(const PairLoss& loss, const RandomOrders& orders) : loss_(loss), orders_(orders) {}

    void add(std::size_t query, const Lambdas& lambdas) {
        load(query);
        const std::size_t n = ranked_.size();
        for (std::int32_t order = 0; order < orders_.n_orders; ++order) {
            draw(static_cast<std::uint64_t>(order) * n);
            for (std::size_t rank = 0; rank + 1 < n; ++rank)
                add_pair(rank_of(order_[rank]), rank_of(order_[rank + 1]), weights_[rank]);
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
        for (std::size_t rank = weights_.size(); rank < n; ++rank)
            weights_.push_back(orders_.scale / (orders_.n_orders * std::log2(static_cast<double>(rank) + 2.0)));
        seed_ = orders_.seed;
        for (std::size_t rank = 0; rank < n; ++rank) {
            const double score = at(loss_.scores, ranked_[rank]), best = at(loss_.scores, ranked_[0]);
            labels_[rank] = at(loss_.labels, ranked_[rank]);
            odds_[rank] = std::exp(std::max(loss_.sigma * (score - best), kLowest));
            seed_ = mixed(mixed(seed_, score), labels_[rank]);
        }
    }

    // score + noise, as odds: the logarithm of u / (1 - u) has the logistic distribution.
    void draw(std::uint64_t first) {
        for (std::size_t rank = 0; rank < order_.size(); ++rank) {
            const double u = uniform(seed_, first + rank);
            order_[rank] = position(static_cast<float>(odds_[rank] * (u / (1.0 - u))), rank);
        }
        std::ranges::sort(order_, std::ranges::greater());
    }

    void add_pair(std::size_t i, std::size_t j, double weight) {
        if (labels_[i] < labels_[j]) std::swap(i, j);
        const double difference = labels_[i] - labels_[j];
        if (difference == 0.0) return;
        const double rho = odds_[j] / (odds_[i] + odds_[j]), push = weight * difference * rho;
        gradient_[i] += push;
        gradient_[j] -= push;
        const double curvature = push * loss_.sigma * (odds_[i] / (odds_[i] + odds_[j]));
        hessian_[i] += curvature;
        hessian_[j] += curvature;
    }

    const PairLoss& loss_;
    const RandomOrders& orders_;
    std::uint64_t seed_ = 0;
    Rows ranked_;
    std::vector<double> labels_, odds_, gradient_, hessian_;  // by rank
    std::vector<Position> order_;
    std::vector<double> weights_;  // of a pair whose labels differ by 1, by the rank of the upper document
};

}  // namespace

void neighbour_lambdas(const PairLoss& loss, const RandomOrders& orders, int n_threads, Lambdas lambdas) {
    parallel_ranges(loss.queries.size() - 1, kChunk, n_threads, [&](std::size_t first, std::size_t last) {
        QueryNeighbours neighbours(loss, orders);
        for (std::size_t query = first; query < last; ++query) neighbours.add(query, lambdas);
    });
}

}  // namespace rankwright
