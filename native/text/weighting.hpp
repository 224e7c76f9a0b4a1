// Formulas of retrieval models: what one word of a query adds to the score of a document.
#pragma once
#include <cmath>

namespace rankwright {

// How a word of frequency f scores in a field of length l with u distinct terms, for a word with `weight` and
// `scale`, and the part of the score that does not depend on its words, with the sum of the words' weights as
// `prior`:
//
// clang-format off
//   bm25                  weight * f / (f + (constant + slope * l))
//   dirichlet             weight * log(1 + scale * f)                     -prior * log(1 + slope * l)
//   jelinek_mercer        weight * log(1 + scale * f / l)
//   absolute_discounting  weight * log(1 + scale * (f - constant) / u)    prior * log(constant * u / l); 0 if l is 0
// clang-format on
//
// Weights, scales, priors, constants and slopes are finite and not negative; the constant of absolute discounting
// is above 0 and at most 1.
enum class Weighting { bm25, dirichlet, jelinek_mercer, absolute_discounting };

struct FieldWeighting {
    double constant = 0.0, slope = 0.0;
};

struct Bm25 {
    static constexpr bool kHasPrior = false;
    double weight, constant, slope;
    Bm25(double term_weight, double, const FieldWeighting& field)
        : weight(term_weight), constant(field.constant), slope(field.slope) {}
    double operator()(double frequency, double length) const {
        return weight * frequency / (frequency + (constant + slope * length));
    }
};

struct Dirichlet {
    static constexpr bool kHasPrior = true;
    double weight, scale;
    Dirichlet(double term_weight, double term_scale, const FieldWeighting&)
        : weight(term_weight), scale(term_scale) {}
    double operator()(double frequency, double) const { return weight * std::log1p(scale * frequency); }
};

struct JelinekMercer {
    static constexpr bool kHasPrior = false;
    double weight, scale;
    JelinekMercer(double term_weight, double term_scale, const FieldWeighting&)
        : weight(term_weight), scale(term_scale) {}
    double operator()(double frequency, double length) const {
        return weight * std::log1p(scale * frequency / length);
    }
};

struct AbsoluteDiscounting {
    double weight, scale, constant;
    AbsoluteDiscounting(double term_weight, double term_scale, const FieldWeighting& field)
        : weight(term_weight), scale(term_scale), constant(field.constant) {}
    double operator()(double frequency, double distinct) const {
        return weight * std::log1p(scale * (frequency - constant) / distinct);
    }
};

// The score of one word by any model.
inline double term_score(Weighting weighting, double weight, double scale, const FieldWeighting& field,
                         double frequency, double length, double distinct) {
    switch (weighting) {
        case Weighting::bm25:
            return Bm25(weight, scale, field)(frequency, length);
        case Weighting::dirichlet:
            return Dirichlet(weight, scale, field)(frequency, length);
        case Weighting::jelinek_mercer:
            return JelinekMercer(weight, scale, field)(frequency, length);
        default:
            return AbsoluteDiscounting(weight, scale, field)(frequency, distinct);
    }
}

// The part of a document's score that does not come from its words, by any model.
inline double prior_score(Weighting weighting, double prior, const FieldWeighting& field, double length,
                          double distinct) {
    if (weighting == Weighting::dirichlet) return -prior * std::log1p(field.slope * length);
    if (weighting == Weighting::absolute_discounting && length > 0)
        return prior * std::log(field.constant * distinct / length);
    return 0.0;
}

}  // namespace rankwright
