// The expectation step of the dynamic Bayesian network of clicks (Chapelle & Zhang 2009).
#pragma once
#include <cstdint>
#include <span>

namespace rankwright {

// Result lists, from the top: list l has the rows [offsets[l], offsets[l + 1]), each with whether it was clicked,
// the probability that it is clicked if it is read (attraction), and the probability that a click on it ends the
// search (satisfaction). All probabilities are in (0, 1).
struct ClickedLists {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint8_t> clicked;
    std::span<const double> attraction;
    std::span<const double> satisfaction;
};

// The user reads the first document. After each one that does not satisfy, the user reads the next with the
// probability `continuation`. Writes for each row the probability that it was read, and that the user was
// satisfied by it, given all clicks of its list; and for each list the logarithm of the probability of its clicks.
// One thread owns one list.
void expect_reading(const ClickedLists& lists, double continuation, int n_threads, std::span<double> read,
                    std::span<double> satisfied, std::span<double> log_likelihood);

}  // namespace rankwright
