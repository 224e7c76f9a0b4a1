// Trees of stumps that vote for or against each class: the Hamming trees of AdaBoost.MH.
#pragma once
#include <cstdint>
#include <span>

#include "trees/stumps.hpp"

namespace rankwright {

// Grows a tree: always the split that adds most to the edge, until none adds anything or there are max_leaves. A
// leaf votes as its side of the stump that made it. Overwrites votes_of_rows (n_classes x n_rows).
VoteTree grow_hamming_tree(const BinnedMatrix& binned, const VoteTask& task, std::int32_t max_leaves,
                           int n_threads, GrowthWorkspace& workspace, std::span<double> votes_of_rows);

}  // namespace rankwright
