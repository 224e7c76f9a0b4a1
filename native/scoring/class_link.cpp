#include "scoring/class_link.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kDocumentsTogether = 256, kDocumentsPerRange = 1 << 13;

void raise(std::span<double> powers) {
    exponentiate(powers.data(), static_cast<std::int64_t>(powers.size()), widest_path());
}

void logistic(std::span<const double> scores, std::span<double> probabilities) {
    for (std::size_t i = 0; i < scores.size(); ++i) probabilities[i] = -std::abs(scores[i]);  // cannot overflow
    raise(probabilities);
    for (std::size_t i = 0; i < scores.size(); ++i)
        probabilities[i] = (scores[i] < 0.0 ? probabilities[i] : 1.0) / (1.0 + probabilities[i]);
}

// Of the documents from `first` on, at most kDocumentsTogether.
void softmax(std::span<const double> scores, std::size_t n_documents, std::size_t first, std::size_t n,
             std::span<double> probabilities) {
    std::array<double, kDocumentsTogether> highest, total{};
    std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(first), n, highest.begin());
    for (std::size_t begin = first; begin < scores.size(); begin += n_documents)
        for (std::size_t i = 0; i < n; ++i) highest[i] = std::max(highest[i], scores[begin + i]);
    for (std::size_t begin = first; begin < scores.size(); begin += n_documents) {
        const std::span<double> raised = probabilities.subspan(begin, n);
        for (std::size_t i = 0; i < n; ++i) raised[i] = scores[begin + i] - highest[i];
        raise(raised);
        for (std::size_t i = 0; i < n; ++i) total[i] += raised[i];
    }
    for (std::size_t begin = first; begin < scores.size(); begin += n_documents)
        for (std::size_t i = 0; i < n; ++i) probabilities[begin + i] /= total[i];
}

}  // namespace

void class_probabilities(ClassLink link, std::size_t n_classes, std::span<const double> scores, int n_threads,
                         std::span<double> probabilities) {
    if (link == ClassLink::kLogistic) {
        parallel_ranges(scores.size(), kDocumentsPerRange, n_threads, [&](std::size_t first, std::size_t last) {
            logistic(scores.subspan(first, last - first), probabilities.subspan(first, last - first));
        });
        return;
    }
    const std::size_t n_documents = scores.size() / n_classes;
    parallel_ranges(n_documents, kDocumentsPerRange, n_threads, [&](std::size_t first, std::size_t last) {
        for (; first < last; first += kDocumentsTogether)
            softmax(scores, n_documents, first, std::min(kDocumentsTogether, last - first), probabilities);
    });
}

}  // namespace rankwright
