// How scores of classes become probabilities: see ClassLink in models/class_trees.py.
#pragma once
#include <cstddef>
#include <span>

namespace rankwright {

// Softmax over the classes, or the logistic function of each score.
enum class ClassLink { kSoftmax, kLogistic };

// Overwrites one probability per class and document; both arrays are n_classes x n_documents. A document's
// probabilities depend on its own scores alone.
void class_probabilities(ClassLink link, std::size_t n_classes, std::span<const double> scores, int n_threads,
                         std::span<double> probabilities);

}  // namespace rankwright
