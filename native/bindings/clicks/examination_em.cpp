#include "clicks/examination_em.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {
namespace {

ClickCells checked_cells(const Array<std::int64_t>& offsets, const Array<std::int32_t>& strata,
                         const Array<std::int32_t>& classes, const Array<double>& shown,
                         const Array<double>& clicked, std::size_t n_strata, std::size_t n_classes) {
    const std::size_t n = classes.size();
    const ClickCells cells{checked_offsets(offsets, n), view(strata), view(classes),
                           checked_finite(shown, n, "shown must be finite, one number per cell"),
                           checked_finite(clicked, n, "clicked must be finite, one number per cell")};
    for (std::size_t cell = 0; cell < n; ++cell) {
        require(0 <= cells.classes[cell] && static_cast<std::size_t>(cells.classes[cell]) < n_classes,
                "a class is out of range");
        require(0.0 <= cells.clicked[cell] && cells.clicked[cell] <= cells.shown[cell],
                "clicked must be at least 0 and at most shown");
    }
    require(cells.strata.size() + 1 == cells.offsets.size(), "strata must have one number per pair");
    for (std::int32_t stratum : cells.strata)
        require(0 <= stratum && static_cast<std::size_t>(stratum) < n_strata, "a stratum is out of range");
    return cells;
}

Output<double> copied(const Array<double>& values) {
    Output<double> copy(values.size());
    std::copy(values.data(), values.data() + values.size(), copy.span().begin());
    return copy;
}

void require_between(const Array<double>& values, double most, const char* sentence) {
    require(values.size() > 0, sentence);
    for (double value : view(values)) require(0.0 < value && value <= most, sentence);
}

using Numbers = nb::ndarray<nb::numpy, double>;

std::tuple<Numbers, Numbers, Numbers, Numbers, Numbers, Numbers> fitted(
    Array<std::int64_t> offsets, Array<std::int32_t> strata, Array<std::int32_t> classes, Array<double> shown,
    Array<double> clicked, Array<double> nodes, Array<double> prior, Array<double> examination,
    Array<double> trust, bool prior_only, int max_steps, double tolerance, int n_threads) {
    require_between(nodes, 1.0 - 1e-12, "nodes must be above 0 and below 1");
    require_between(prior, 1.0, "prior must be above 0 and at most 1");
    require_between(examination, 1.0, "examination must be above 0 and at most 1");
    require(prior.size() % nodes.size() == 0, "prior must have one number per stratum and node");
    require(trust.size() == examination.size(), "trust must have one number per class");
    for (double value : view(trust)) require(0.0 <= value && value < 1.0, "trust must be at least 0 and below 1");
    const ClickCells cells =
        checked_cells(offsets, strata, classes, shown, clicked, prior.size() / nodes.size(), examination.size());
    require(max_steps >= 0 && tolerance >= 0.0, "max_steps and tolerance must not be negative");
    Output<double> weights = copied(prior), examined = copied(examination), trusted = copied(trust);
    Output<double> mean(offsets.size() - 1), deviation(offsets.size() - 1);
    std::vector<double> objectives;
    {
        nb::gil_scoped_release release;
        objectives = fit_examination(cells, {view(nodes), weights.span(), examined.span(), trusted.span()},
                                     prior_only, max_steps, tolerance, n_threads, mean.span(), deviation.span());
    }
    return {mean.numpy(),    deviation.numpy(), examined.numpy(),
            trusted.numpy(), weights.numpy(),   to_numpy(objectives)};
}

}  // namespace

void bind_examination_em(nb::module_& m) {
    m.def("fit_examination", &fitted, nb::arg("offsets"), nb::arg("strata"), nb::arg("classes"), nb::arg("shown"),
          nb::arg("clicked"), nb::arg("nodes"), nb::arg("prior"), nb::arg("examination"), nb::arg("trust"),
          nb::arg("prior_only"), nb::arg("max_steps"), nb::arg("tolerance"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
