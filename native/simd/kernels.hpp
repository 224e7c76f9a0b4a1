// Kernels that are compiled once per SIMD path: portable, AVX2 and AVX-512. The files in simd/paths define them in
// the namespace of each path; dispatch.cpp chooses the widest path that the processor supports at run time.
//
// All paths give the same bits. The files in simd/paths include no library templates: otherwise the linker
// could keep a copy that was compiled for a wide path and use it on all processors.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rankwright {

enum class SimdPath : int { portable, avx2, avx512 };

// The widest path that the processor supports, or a narrower one that the environment variable RANKWRIGHT_SIMD
// names: portable, avx2 or avx512.
SimdPath widest_path();

// Arrays passed to these kernels are readable and writable up to a multiple of this number.
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kCountLanes = 2 * kLanes;
constexpr std::size_t kCountBelow = 400;  // keys: below it, count_above is faster than sorting

// Number of values encoded together, and the length of a feature's edges, padded with infinity.
constexpr std::int64_t kEncodeRows = 512;
constexpr std::int64_t kEdgeStride = 256;

// Sums of gradient and hessian are packed as in histograms/quantise.hpp. The gain of a side is gradient^2 /
// (hessian + l2).
struct SplitTerms {
    std::int64_t total;                  // the sums of both sides
    double gradient_step, hessian_step;  // the size of one unit of a sum
    double l2, min_hessian;              // a side with a smaller hessian, or none, is not allowed
    double parent_gain;                  // of both sides together
};
constexpr std::int64_t kGainLanes = 8;

// The same in units of whole steps.
struct SideTerms {
    std::int32_t gradient, hessian;  // of both sides together
    std::int32_t least;              // hessian of a side, at least 1
    float l2;
};

constexpr double kSidesError = 1e-5;
constexpr std::int64_t kSideLanes = 16;

// The left sides of several splits, class by class: those of class k begin at left + k * stride.
struct ClassSides {
    const std::int64_t* left;
    std::int64_t stride, n_classes;
    const SplitTerms* terms;  // one per class; parent_gain and min_hessian are of all classes together
};

// Rows with several integers each, which are added to one slot per column: sums + column * slot_size.
struct WideTask {
    const std::uint32_t* rows;
    std::size_t n_rows;
    const std::uint8_t* const* columns;  // the code of a row is columns[column][row * row_stride]
    std::size_t n_columns, row_stride;
    const std::int64_t* values;  // width per row
    std::size_t width;           // a multiple of kWideLanes
    std::int64_t* sums;          // width per code
    std::size_t slot_size;
};
constexpr std::size_t kWideLanes = 4;

// count_above: ranks[i] = the number of keys above keys[i], including earlier ones that are equal.
// encode_column: codes[i] = the number of edges below values[i], 255 if it is NaN; for kEncodeRows values.
// split_gains: gains[i] = the gains of both sides minus the parent's, -infinity if a side is not allowed. Arrays
// of this and class_gains are readable and writable up to a multiple of kGainLanes. highest_sides: about the
// highest sum of the gains of both sides in steps, 0 if no split is allowed; its error is at most kSidesError of
// it. The left side of split i is `before` and the sums up to i; sums are readable up to a multiple of kSideLanes,
// but those from `size` on do not count. class_gains: as split_gains, with gains and hessians summed over classes;
// a class without hessian gains nothing. add_wide_rows: adds the integers of every row to those of its code, for
// each column. Arrays are aligned. weigh_inputs: units[u] += the sum, in order, of inputs[i] * weights[i * n_units
// + u]. add_products: sums[i * n_units + u] += inputs[i] * pulls[u]. exponentiate: values[i] = exp(values[i]), to
// the last bit or two, for values up to 700; 0 below -708.
#define RANKWRIGHT_DECLARE_KERNELS(path)                                                                        \
    namespace path {                                                                                            \
    void count_above(const float* keys, std::int64_t size, std::int32_t* ranks);                                \
    void encode_column(const float* values, const float* edges, std::uint8_t* codes);                           \
    void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains);      \
    float highest_sides(const std::int64_t* sums, std::int64_t size, std::int64_t before,                       \
                        const SideTerms& terms);                                                                \
    void class_gains(const ClassSides& sides, std::int64_t size, double* gains);                                \
    void add_wide_rows(const WideTask& task);                                                                   \
    void weigh_inputs(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units, \
                      double* units);                                                                           \
    void add_products(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,   \
                      double* sums);                                                                            \
    void exponentiate(double* values, std::int64_t size);                                                       \
    }

RANKWRIGHT_DECLARE_KERNELS(portable)
#if defined(__x86_64__)
RANKWRIGHT_DECLARE_KERNELS(avx2)
RANKWRIGHT_DECLARE_KERNELS(avx512)
#endif

void count_above(const float* keys, std::int64_t size, std::int32_t* ranks, SimdPath path);
void encode_column(const float* values, const float* edges, std::uint8_t* codes, SimdPath path);
void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains,
                 SimdPath path);
float highest_sides(const std::int64_t* sums, std::int64_t size, std::int64_t before, const SideTerms& terms,
                    SimdPath path);
void class_gains(const ClassSides& sides, std::int64_t size, double* gains, SimdPath path);
void add_wide_rows(const WideTask& task, SimdPath path);
void weigh_inputs(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units,
                  double* units, SimdPath path);
void add_products(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,
                  double* sums, SimdPath path);
void exponentiate(double* values, std::int64_t size, SimdPath path);

}  // namespace rankwright
