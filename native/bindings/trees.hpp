// Trees as numpy arrays by their names in TreeEnsemble.
#pragma once
#include <vector>

#include "arrays.hpp"
#include "rankwright/tree_shape.hpp"

namespace rankwright::bindings {

template <class T>
auto copied(const std::vector<T>& values) {
    Output<T> result(values.size());
    std::copy(values.begin(), values.end(), result.span().begin());
    return result.numpy();
}

inline nb::dict shape_arrays(const TreeShape& tree) {
    nb::dict arrays;
    arrays["feature"] = copied(tree.feature);
    arrays["threshold"] = copied(tree.threshold);
    arrays["missing_left"] = copied(tree.missing_left);
    arrays["left"] = copied(tree.left);
    arrays["right"] = copied(tree.right);
    arrays["gain"] = copied(tree.gain);
    return arrays;
}

}  // namespace rankwright::bindings
