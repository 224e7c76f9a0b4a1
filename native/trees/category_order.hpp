// Gives the levels of categories codes in an order fitted to the gradients, so that one tree may split a category
// as it splits numbers: levels up to a code go left, which makes a set of levels.
//
// With the sums G and H of gradients and hessians over the rows of a level, and over all rows G' and H',
//
//   noise   = sum of squared gradients / H'                        variance of G / sqrt(H) without any effect
//   gain    = sum of G^2 / H - G'^2 / H'                           of telling all L levels apart
//   chance  = (L - 1) noise                                        its expectation without any effect
//   between = (gain - chance) / (H' - sum of H^2 / H'), at least 0 variance of the effects of levels
//   order   = (G - H G' / H') / (noise + H between)
//
// This is the order of the best linear estimates of the effects, with variances estimated by moments: a rare level
// is moved towards the mean of all, the further the less levels differ beyond chance.
//
// An order fitted to the same gradients that choose the split raises its gain, even where levels differ by chance
// only. So kOptimism x chance x min(1, chance / gain) is subtracted from the gain of a split at the root, and less
// in proportion to the hessian below.
#pragma once
#include <cstdint>
#include <span>

#include "histograms/binning.hpp"
#include "histograms/quantise.hpp"

namespace rankwright {

// A copy of a matrix whose categories are coded for one tree.
struct OrderedCategories {
    BinnedMatrix binned;
    std::shared_ptr<std::uint8_t[]> by_row, by_column;  // those of the matrix, to be written
};

// Returns the matrix itself if it has no categories; otherwise `ordered`, with new codes of those categories that
// are among the features. `rows` are those that choose splits; none listed: all.
const BinnedMatrix& order_categories(const BinnedMatrix& binned, std::span<const std::uint32_t> features,
                                     const Quantised& quantised, std::span<const std::uint32_t> rows,
                                     int n_threads, OrderedCategories& ordered);

}  // namespace rankwright
