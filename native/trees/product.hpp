// Products of stumps that vote for or against each class (Kégl & Busa-Fekete 2009).
#pragma once
#include <cstdint>
#include <span>

#include "trees/stumps.hpp"

namespace rankwright {

// Multiplies up to max_terms stumps, class by class. Terms begin as constants; each in turn is refitted to the
// signed weights times the votes of the others, or becomes a constant if that is no worse, until no term raises
// the edge. The result is returned as the tree of all its cells. Overwrites votes_of_rows (n_classes x n_rows).
VoteTree fit_product(const BinnedMatrix& binned, const VoteTask& task, std::int32_t max_terms, int n_threads,
                     GrowthWorkspace& workspace, std::span<double> votes_of_rows);

}  // namespace rankwright
