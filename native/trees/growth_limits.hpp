// Limits on the growth of a tree of gradients, and the constants of its gains.
#pragma once
#include <cstdint>

#include "trees/tree_shape.hpp"

namespace rankwright {

struct GrowthLimits {
    std::int32_t max_leaves;
    std::int64_t min_documents;  // in every leaf, of those that splits are chosen on
    double min_hessian;          // sum of hessians in every leaf
    double l2;                   // added to every sum of hessians
    double min_gain;             // a split must gain more
    std::int32_t levels;         // of gradients and hessians rounded for choosing splits, or kFineLevels
    bool symmetric = false;      // whether all leaves of a level share one split
};

struct GrownTree : TreeShape {
    std::vector<double> leaf_value;
};

}  // namespace rankwright
