#include "readers/letor.hpp"

#include <string>
#include <vector>

#include "bindings/readers/parsing.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright::bindings {
namespace {

using GuardedParser = Guarded<LetorParser>;

nb::object document_ids(const LetorParser& parser) {
    if (!parser.has_document_ids()) return nb::none();
    nb::list ids;
    parser.visit_document_ids([&](std::string_view id) { ids.append(to_str(id)); });
    return ids;
}

nb::object labels(const LetorParser& parser) {
    if (!parser.is_judged()) return nb::none();
    Output<double> values(parser.n_rows());
    parser.copy_labels(values.span());
    return nb::cast(values.numpy());
}

// Fills `features`, allocated by numpy, which asks for huge pages, so that a large matrix costs few page faults.
nb::tuple finish(GuardedParser& parser, float absent, NumpyArray<float, 2> features) {
    const auto turn = take_turn(parser);
    require(features.shape(0) == parser.n_rows(), "features must have one row per document");
    require(features.shape(1) >= parser.n_features(), "features must have a column for the highest feature");
    {
        nb::gil_scoped_release release;
        parser.move_features(absent, features.shape(1), {features.data(), features.size()});
    }
    nb::object queries = nb::none(), query_ids = nb::none();
    if (parser.has_queries()) {
        Output<std::int64_t> numbers(parser.n_rows());
        query_ids = to_list(parser.number_queries(numbers.span()));
        queries = nb::cast(numbers.numpy());
    }
    nb::tuple result = nb::make_tuple(labels(parser), queries, query_ids, document_ids(parser));
    parser.clear_rows();
    return result;
}

nb::list format_features(const Matrix<float>& features, int n_threads) {
    const std::size_t n_rows = features.shape(0), width = features.shape(1);
    std::vector<std::string> texts(n_rows);
    {
        nb::gil_scoped_release release;
        parallel_ranges(n_rows, 64, n_threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t row = first; row < last; ++row)
                texts[row] = format_letor_features({features.data() + row * width, width});
        });
    }
    nb::list rows;
    for (const std::string& text : texts) rows.append(nb::bytes(text.data(), text.size()));
    return rows;
}

}  // namespace

void bind_letor(nb::module_& m) {
    nb::enum_<LetorFault>(m, "LetorFault")
        .value("label_missing", LetorFault::label_missing)
        .value("label_not_number", LetorFault::label_not_number)
        .value("label_not_finite", LetorFault::label_not_finite)
        .value("query_missing", LetorFault::query_missing)
        .value("pair_malformed", LetorFault::pair_malformed)
        .value("feature_not_positive", LetorFault::feature_not_positive)
        .value("feature_order", LetorFault::feature_order)
        .value("feature_too_high", LetorFault::feature_too_high)
        .value("value_not_number", LetorFault::value_not_number)
        .value("value_not_finite", LetorFault::value_not_finite)
        .value("id_not_text", LetorFault::id_not_text)
        .value("query_id_too_long", LetorFault::query_id_too_long)
        .value("line_too_long", LetorFault::line_too_long)
        .value("comment_missing", LetorFault::comment_missing);
    nb::enum_<LetorQueries>(m, "LetorQueries")
        .value("field", LetorQueries::field)
        .value("comment", LetorQueries::comment)
        .value("nowhere", LetorQueries::nowhere);
    nb::class_<GuardedParser>(m, "LetorParser")
        .def(
            "__init__",
            [](GuardedParser* parser, bool judged, LetorQueries queries, bool zero_based,
               std::uint32_t max_feature, std::size_t max_line, std::size_t max_query_id, int n_threads) {
                const LetorRules rules{judged, queries, zero_based, max_feature, max_line, max_query_id};
                new (parser) GuardedParser(rules, n_threads);
            },
            nb::arg("judged"), nb::arg("queries"), nb::arg("zero_based"), nb::arg("max_feature"),
            nb::arg("max_line"), nb::arg("max_query_id"), nb::arg("n_threads"))
        .def("feed", &feed<LetorParser>, nb::arg("block"))
        .def("finish", &finish, nb::arg("absent"), nb::arg("features").noconvert())
        .def_prop_ro("n_rows", locked(&LetorParser::n_rows))
        .def_prop_ro("n_features", locked(&LetorParser::n_features))
        .def_prop_ro("longest_query_id", locked(&LetorParser::longest_query_id));
    m.def("format_letor_features", &format_features, nb::arg("features"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
