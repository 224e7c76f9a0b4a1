#include "readers/csv.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/readers/parsing.hpp"

namespace rankwright::bindings {
namespace {

using GuardedParser = Guarded<CsvParser>;

nb::object end(const GuardedParser& parser) {
    const auto turn = take_turn(parser);
    return to_tuple(parser.end());
}

nb::list take_columns(GuardedParser& parser) {
    const auto turn = take_turn(parser);
    nb::list columns;
    for (CsvColumn& column : parser.take_columns()) columns.append(nb::cast(std::move(column)));
    return columns;
}

nb::object numbers(const CsvColumn& column) {
    return column.is_double ? nb::cast(to_numpy(column.doubles)) : nb::cast(to_numpy(column.floats));
}

nb::tuple ids(const CsvColumn& column) {
    TextNumbering numbering;
    Output<std::int64_t> number_of_row(column.ids.size());
    for (std::size_t row = 0; row < column.ids.size(); ++row)
        number_of_row.span()[row] = numbering.number(column.ids[row]);
    return nb::make_tuple(number_of_row.numpy(), to_list(numbering));
}

nb::object first_text(const CsvColumn& column) {
    if (!column.first_text) return nb::none();
    return nb::make_tuple(column.first_text->line, to_bytes(column.first_text->text));
}

}  // namespace

void bind_csv(nb::module_& m) {
    nb::enum_<CsvFault>(m, "CsvFault")
        .value("too_few_fields", CsvFault::too_few_fields)
        .value("too_many_fields", CsvFault::too_many_fields)
        .value("quote_not_closed", CsvFault::quote_not_closed)
        .value("text_after_quote", CsvFault::text_after_quote)
        .value("carriage_return", CsvFault::carriage_return)
        .value("not_utf8", CsvFault::not_utf8)
        .value("record_too_long", CsvFault::record_too_long);
    nb::class_<CsvColumn>(m, "CsvColumn")
        .def_prop_ro("name", [](const CsvColumn& column) { return to_str(column.name); })
        .def_prop_ro("is_id", [](const CsvColumn& column) { return column.kind == CsvColumn::Kind::id; })
        .def_ro("n_numbers", &CsvColumn::n_numbers)
        .def_ro("n_texts", &CsvColumn::n_texts)
        .def_ro("first_missing_line", &CsvColumn::first_missing_line)
        .def_prop_ro("first_text", &first_text)
        .def("numbers", &numbers)
        .def("ids", &ids);
    nb::class_<GuardedParser>(m, "CsvParser")
        .def(
            "__init__",
            [](GuardedParser* parser, char delimiter, std::optional<std::string> label,
               std::vector<std::string> ids_, std::size_t max_record) {
                require(delimiter == ',' || delimiter == '\t' || delimiter == ';',
                        "delimiter must be a comma, a semicolon or a tab");
                new (parser) GuardedParser(delimiter, CsvRoles{std::move(label), std::move(ids_)}, max_record);
            },
            nb::arg("delimiter"), nb::arg("label").none(), nb::arg("ids"), nb::arg("max_record"))
        .def("feed", &feed<CsvParser>, nb::arg("block"))
        .def("end", &end)
        .def("take_columns", &take_columns)
        .def_prop_ro("n_rows", locked(&CsvParser::n_rows))
        .def_prop_ro("n_columns", locked(&CsvParser::n_columns));
}

}  // namespace rankwright::bindings
