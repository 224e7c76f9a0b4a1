#include "metrics/smooth_dcg.hpp"

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {
namespace {

auto smoothed(Array<std::int64_t> offsets, Array<double> scores, Array<double> gains, double sigma,
              int n_threads) {
    const Offsets queries = checked_offsets(offsets, scores.size());
    const Doubles checked_scores = checked_finite(scores, scores.size(), "scores must be finite");
    const Doubles checked_gains = checked_finite(gains, scores.size(), "there must be one finite gain per score");
    require(sigma > 0.0 && sigma - sigma == 0.0, "sigma must be finite and above 0");
    Output<double> values(queries.size() - 1);
    {
        nb::gil_scoped_release release;
        smooth_dcg(queries, checked_scores, checked_gains, sigma, n_threads, values.span());
    }
    return values.numpy();
}

}  // namespace

void bind_smooth_dcg(nb::module_& m) {
    m.def("smooth_dcg", &smoothed, nb::arg("offsets"), nb::arg("scores"), nb::arg("gains"), nb::arg("sigma"),
          nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
