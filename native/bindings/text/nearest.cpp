#include "text/nearest.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdlib>

#include "bindings/arguments/checks.hpp"
#include "bindings/text/scored_documents.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright::bindings {
namespace {

constexpr std::int64_t kLargestSum = 2147483647 / 128;  // of the absolute components of a query

QueryVectors checked_queries(const Matrix<std::int16_t>& queries) {
    const std::size_t n_queries = queries.shape(0), n_components = queries.shape(1);
    require(n_components >= 1, "vectors must have a component");
    for (std::size_t q = 0; q < n_queries; ++q) {
        std::int64_t sum = 0;
        for (std::size_t c = 0; c < n_components; ++c) sum += std::abs(queries.data()[q * n_components + c]);
        require(sum <= kLargestSum, "the components of a query are too large");
    }
    return {queries.data(), n_queries, n_components};
}

std::vector<SegmentVectors> checked_segments(const std::vector<Matrix<std::int8_t>>& vectors,
                                             const std::vector<Array<float>>& scales,
                                             const std::vector<Array<std::uint64_t>>& removed,
                                             std::size_t n_components) {
    require(scales.size() == vectors.size() && removed.size() == vectors.size(),
            "there must be scales and removed bits for each segment");
    std::vector<SegmentVectors> segments;
    for (std::size_t s = 0; s < vectors.size(); ++s) {
        const std::size_t n_rows = vectors[s].shape(0);
        require(vectors[s].shape(1) == n_components, "vectors and queries must have the same length");
        require(scales[s].size() == n_rows, "there must be one scale per vector");
        require(removed[s].size() == 0 || removed[s].size() == (n_rows + 63) / 64,
                "removed must have one bit per vector");
        for (const float scale : view(scales[s]))
            require(std::isfinite(scale) && scale >= 0.0f && scale < 1e20f,
                    "scales must be finite and not negative");
        segments.push_back({vectors[s].data(), n_rows, view(scales[s]), view(removed[s])});
    }
    return segments;
}

nb::tuple nearest(const std::vector<Matrix<std::int8_t>>& vectors, const std::vector<Array<float>>& scales,
                  const std::vector<Array<std::uint64_t>>& removed, const Matrix<std::int16_t>& queries,
                  std::size_t n, int n_threads, std::optional<int> path) {
    const SimdPath checked = checked_path(path);
    const QueryVectors asked = checked_queries(queries);
    const auto segments = checked_segments(vectors, scales, removed, asked.n_components);
    require(n >= 1, "n must be at least 1");
    require(n_threads >= 1, "n_threads must be at least 1");
    std::vector<std::vector<ScoredDocument>> results;
    {
        nb::gil_scoped_release release;
        results = nearest_vectors(segments, asked, n, n_threads, checked);
    }
    return to_arrays(results);
}

// Query q has the documents [offsets[q], offsets[q + 1]).
nb::ndarray<nb::numpy, double> scores(const std::vector<Matrix<std::int8_t>>& vectors,
                                      const std::vector<Array<float>>& scales, const Matrix<std::int16_t>& queries,
                                      const Array<std::int64_t>& offsets, const Array<std::int64_t>& documents,
                                      int n_threads, std::optional<int> path) {
    const SimdPath checked = checked_path(path);
    const QueryVectors asked = checked_queries(queries);
    const auto segments =
        checked_segments(vectors, scales, std::vector<Array<std::uint64_t>>(vectors.size()), asked.n_components);
    std::size_t n_rows = 0;
    for (const SegmentVectors& segment : segments) n_rows += segment.n_rows;
    const Offsets lists = checked_offsets(offsets, documents.size());
    require(lists.size() == asked.n_queries + 1, "there must be as many lists of documents as queries");
    const Rows all = checked_rows(documents, n_rows);
    Output<double> scored(documents.size());
    {
        nb::gil_scoped_release release;
        parallel_for(asked.n_queries, n_threads, [&](std::size_t q) {
            for (auto i = static_cast<std::size_t>(lists[q]); i < static_cast<std::size_t>(lists[q + 1]); ++i)
                scored.span()[i] = vector_score(segments, asked, q, all[i], checked);
        });
    }
    return scored.numpy();
}

}  // namespace

void bind_nearest(nb::module_& m) {
    m.def("nearest_vectors", &nearest, nb::arg("vectors"), nb::arg("scales"), nb::arg("removed"),
          nb::arg("queries"), nb::arg("n"), nb::arg("n_threads"), nb::arg("path") = nb::none());
    m.def("vector_scores", &scores, nb::arg("vectors"), nb::arg("scales"), nb::arg("queries"), nb::arg("offsets"),
          nb::arg("documents"), nb::arg("n_threads"), nb::arg("path") = nb::none());
}

}  // namespace rankwright::bindings
