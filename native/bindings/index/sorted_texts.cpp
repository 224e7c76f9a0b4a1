#include "index/sorted_texts.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/index/strings.hpp"

namespace rankwright::bindings {
namespace {

using Arrays = std::pair<Array<std::uint64_t>, Array<std::uint8_t>>;

// The number of each wanted text, -1 where there is none. `order`: None if the texts are in order.
auto find_texts(const Array<std::uint64_t>& places, const Array<std::uint8_t>& bytes,
                std::optional<Array<std::uint32_t>> order, nb::list wanted) {
    const TextArray texts = checked_texts(places, bytes);
    const Strings strings(wanted);
    Output<std::int64_t> numbers(strings.views().size());
    for (std::size_t i = 0; i < strings.views().size(); ++i)
        numbers.span()[i] =
            order ? find_text(texts, view(*order), strings.views()[i]) : find_text(texts, strings.views()[i]);
    return numbers.numpy();
}

// (places, bytes) of the texts, and the order of their numbers.
nb::tuple pack_texts(nb::list given) {
    const Strings texts(given);
    return nb::make_tuple(to_arrays(texts.views()), to_numpy(order_of_texts(texts.views())));
}

// (places, bytes) of the union, and the number in it of every text, list by list.
nb::tuple merge(const std::vector<Arrays>& given) {
    std::vector<TextArray> lists;
    for (const auto& [places, bytes] : given) lists.push_back(checked_texts(places, bytes));
    const MergedTexts merged = [&] {
        nb::gil_scoped_release release;
        return merge_texts(lists);
    }();
    nb::list numbers;
    for (const std::vector<std::uint32_t>& list : merged.number_of) numbers.append(to_numpy(list));
    return nb::make_tuple(to_arrays(merged.texts), numbers);
}

}  // namespace

void bind_sorted_texts(nb::module_& m) {
    m.def("find_texts", &find_texts, nb::arg("places"), nb::arg("content"), nb::arg("order").none(),
          nb::arg("wanted"));
    m.def("pack_texts", &pack_texts, nb::arg("texts"));
    m.def("merge_texts", &merge, nb::arg("lists"));
}

}  // namespace rankwright::bindings
