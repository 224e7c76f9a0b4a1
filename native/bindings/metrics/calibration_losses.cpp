#include <cmath>
#include <vector>

#include "bindings/arguments/arrays.hpp"
#include "metrics/log_sigmoid_loss.hpp"
#include "metrics/smooth_dcg.hpp"

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

// One row of scores per class, one row of slope and middle per sigmoid.
auto sigmoid_losses(Matrix<double> scores, Array<std::int64_t> own, Matrix<double> sigmoids) {
    const std::size_t n_classes = scores.shape(0), n_documents = scores.shape(1);
    require(1 <= n_classes && n_classes <= 256, "there must be from 1 to 256 classes");
    require(own.size() == n_documents, "there must be one class per document");
    for (const std::int64_t number : view(own))
        require(0 <= number && number < static_cast<std::int64_t>(n_classes), "a class is out of range");
    double largest = 0.0;
    for (const double score : Doubles{scores.data(), scores.size()}) {
        require(score - score == 0.0, "scores must be finite");
        largest = std::max(largest, std::abs(score));
    }
    require(sigmoids.shape(1) == 2, "a sigmoid has a slope and a middle");
    std::vector<Sigmoid> checked(sigmoids.shape(0));
    for (std::size_t i = 0; i < checked.size(); ++i) {
        checked[i] = {sigmoids.data()[2 * i], sigmoids.data()[2 * i + 1]};
        const double most = checked[i].slope * (largest + std::abs(checked[i].middle));
        require(checked[i].slope > 0.0 && most - most == 0.0, "slopes must be positive, and values finite");
    }
    Output<double> losses(checked.size());
    {
        nb::gil_scoped_release release;
        log_sigmoid_losses({{scores.data(), scores.size()}, view(own)}, checked, losses.span());
    }
    return losses.numpy();
}

}  // namespace

void bind_calibration_losses(nb::module_& m) {
    m.def("smooth_dcg", &smoothed, nb::arg("offsets"), nb::arg("scores"), nb::arg("gains"), nb::arg("sigma"),
          nb::arg("n_threads"));
    m.def("log_sigmoid_losses", &sigmoid_losses, nb::arg("scores"), nb::arg("own"), nb::arg("sigmoids"));
}

}  // namespace rankwright::bindings
