#include "readers/json_matrix.hpp"

#include "bindings/readers/bytes.hpp"

namespace rankwright::bindings {
namespace {

nb::object matrix_in(const Array<std::uint8_t>& text) {
    const auto matrix = [&] {
        nb::gil_scoped_release release;
        return read_json_matrix(bytes_of(text));
    }();
    if (!matrix) return nb::none();
    Output<float, 2> values({matrix->values.size() / matrix->n_columns, matrix->n_columns});
    std::copy(matrix->values.begin(), matrix->values.end(), values.span().begin());
    return nb::cast(values.numpy());
}

}  // namespace

void bind_json_matrix(nb::module_& m) { m.def("read_json_matrix", &matrix_in, nb::arg("text")); }

}  // namespace rankwright::bindings
