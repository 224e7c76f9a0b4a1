// Rounding of scores, so that their sums are exact in any order.
#pragma once
#include <cmath>

namespace rankwright {

// Rounds to multiples of a power of two; a sum of them is exact while its absolute value is at most `bound`.
class Grid {
  public:
    explicit Grid(double bound) {
        int exponent;
        std::frexp(bound, &exponent);
        step_ = std::ldexp(1.0, exponent - 50);
        magic_ = 1.5 * std::ldexp(step_, 52);
    }
    double round(double value) const { return (value + magic_) - magic_; }
    // An upper bound of the rounded score of any posting whose exact score is at most `value`.
    double above(double value) const { return round(value) + 2 * step_; }

  private:
    double step_, magic_;
};

}  // namespace rankwright
