#include "metrics/log_sigmoid_loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/kernels.hpp"

namespace rankwright {
namespace {

// The logarithm of a product of so many factors is taken at once: each is between 1/2 and twice the number of
// classes, at most 2^10.
constexpr std::size_t kFactors = 64;

// For each document, m = min(0, the highest value of its classes), and for each class exp(-|value| - m), which
// does not underflow for the highest one. Then s(k) exp(-m) = (value < 0 ? exp(-|value| - m) : 1) / (1 +
// exp(-|value|)).
class SigmoidLoss {
  public:
    explicit SigmoidLoss(const ScoredClasses& classes)
        : classes_(classes),
          n_documents_(classes.own.size()),
          values_(classes.scores.size()),
          raised_(values_.size()),
          highest_(n_documents_),
          raised_highest_(n_documents_) {}

    double operator()(const Sigmoid& sigmoid) {
        exponentiate_values(sigmoid);
        double loss = 0.0;
        for (std::size_t begin = 0; begin < n_documents_; begin += kFactors) {
            const std::size_t end = std::min(n_documents_, begin + kFactors);
            double product = 1.0;
            for (std::size_t document = begin; document < end; ++document) {
                const std::size_t own = static_cast<std::size_t>(classes_.own[document]) * n_documents_ + document;
                loss -= std::min(values_[own], 0.0) - highest_[document];
                product *= (1.0 + raised_[own] * raised_highest_[document]) * total(document);
            }
            loss += std::log(product);
        }
        return loss;
    }

  private:
    void exponentiate_values(const Sigmoid& sigmoid) {
        std::ranges::fill(highest_, -HUGE_VAL);
        for (std::size_t first = 0; first < values_.size(); first += n_documents_)
            for (std::size_t document = 0; document < n_documents_; ++document) {
                const double value = sigmoid.slope * (classes_.scores[first + document] - sigmoid.middle);
                values_[first + document] = value;
                highest_[document] = std::max(highest_[document], value);
            }
        for (double& highest : highest_) highest = std::min(highest, 0.0);
        for (std::size_t first = 0; first < values_.size(); first += n_documents_)
            for (std::size_t document = 0; document < n_documents_; ++document)
                raised_[first + document] = -std::abs(values_[first + document]) - highest_[document];
        raised_highest_ = highest_;
        for (std::vector<double>* values : {&raised_, &raised_highest_})
            exponentiate(values->data(), static_cast<std::int64_t>(values->size()), widest_path());
    }

    double total(std::size_t document) const {
        double sum = 0.0;
        for (std::size_t i = document; i < values_.size(); i += n_documents_)
            sum += (values_[i] < 0.0 ? raised_[i] : 1.0) / (1.0 + raised_[i] * raised_highest_[document]);
        return sum;
    }

    const ScoredClasses& classes_;
    const std::size_t n_documents_;
    std::vector<double> values_, raised_;           // n_classes x n_documents
    std::vector<double> highest_, raised_highest_;  // m and exp(m)
};

}  // namespace

void log_sigmoid_losses(const ScoredClasses& classes, std::span<const Sigmoid> sigmoids,
                        std::span<double> losses) {
    SigmoidLoss loss(classes);
    std::ranges::transform(sigmoids, losses.begin(), [&](const Sigmoid& sigmoid) { return loss(sigmoid); });
}

}  // namespace rankwright
