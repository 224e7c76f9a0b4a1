#include "queries/hashing.hpp"

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {
namespace {

auto row_hashes(Matrix<float> values, int n_threads) {
    Output<std::uint64_t> hashes(values.shape(0));
    {
        nb::gil_scoped_release release;
        hash_rows({values.data(), values.size()}, values.shape(1), n_threads, hashes.span());
    }
    return hashes.numpy();
}

}  // namespace

void bind_hashing(nb::module_& m) { m.def("hash_rows", &row_hashes, nb::arg("values"), nb::arg("n_threads")); }

}  // namespace rankwright::bindings
