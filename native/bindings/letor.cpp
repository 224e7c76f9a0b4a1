#include "rankwright/letor.hpp"

#include <mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "rankwright/threads.hpp"

namespace rankwright::bindings {
namespace {

nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }

// A parser that one thread uses at a time: the GIL, released while it works, no longer sees to that.
struct GuardedParser : LetorParser {
    using LetorParser::LetorParser;
    std::mutex turn;
};

std::unique_lock<std::mutex> take_turn(GuardedParser& parser) {
    std::unique_lock lock(parser.turn, std::try_to_lock);
    require(lock.owns_lock(), "another thread is using this parser");
    return lock;
}

nb::object feed(GuardedParser& parser, const Vector<std::uint8_t>& block) {
    const std::string_view bytes(reinterpret_cast<const char*>(block.data()), block.size());
    const auto turn = take_turn(parser);
    std::optional<LetorError> error;
    {
        nb::gil_scoped_release release;
        error = parser.feed(bytes);
    }
    if (!error) return nb::none();
    return nb::make_tuple(error->line, error->fault, nb::bytes(error->token.data(), error->token.size()));
}

nb::object document_ids(const LetorParser& parser) {
    if (!parser.has_document_ids()) return nb::none();
    nb::list ids;
    parser.visit_document_ids([&](std::string_view id) { ids.append(to_str(id)); });
    return ids;
}

using NewMatrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Fills `features`, allocated by numpy: it asks for huge pages, so that a large matrix costs few page faults.
nb::tuple finish(GuardedParser& parser, float absent, NewMatrix features) {
    const auto turn = take_turn(parser);
    require(features.shape(0) == parser.n_rows(), "features must have a row for every document read");
    require(features.shape(1) >= parser.n_features(),
            "features must not be narrower than the highest feature read");
    {
        nb::gil_scoped_release release;
        parser.move_features(absent, features.shape(1), {features.data(), features.size()});
    }
    Output<double> labels(parser.n_rows());
    parser.copy_labels(labels.span());
    Output<std::int64_t> queries(parser.n_rows());
    nb::list query_ids;
    for (std::string_view id : parser.number_queries(queries.span())) query_ids.append(to_str(id));
    nb::object documents = document_ids(parser);
    parser.clear();
    return nb::make_tuple(labels.numpy(), queries.numpy(), query_ids, documents);
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
        .value("label_not_number", LetorFault::label_not_number)
        .value("label_not_finite", LetorFault::label_not_finite)
        .value("query_missing", LetorFault::query_missing)
        .value("pair_malformed", LetorFault::pair_malformed)
        .value("feature_not_positive", LetorFault::feature_not_positive)
        .value("feature_order", LetorFault::feature_order)
        .value("feature_too_high", LetorFault::feature_too_high)
        .value("value_not_number", LetorFault::value_not_number)
        .value("value_not_finite", LetorFault::value_not_finite)
        .value("id_not_text", LetorFault::id_not_text);
    nb::class_<GuardedParser>(m, "LetorParser")
        .def(nb::init<std::uint32_t, int>(), nb::arg("max_feature"), nb::arg("n_threads"))
        .def("feed", &feed, nb::arg("block"))
        .def("finish", &finish, nb::arg("absent"), nb::arg("features").noconvert())
        .def_prop_ro("n_rows", [](const GuardedParser& parser) { return parser.n_rows(); })
        .def_prop_ro("n_features", [](const GuardedParser& parser) { return parser.n_features(); });
    m.def("format_letor_features", &format_features, nb::arg("features"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
