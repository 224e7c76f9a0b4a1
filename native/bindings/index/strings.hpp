// Lists of Python's strings as UTF-8, and lists of texts as numpy arrays.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/arguments/arrays.hpp"
#include "index/sorted_texts.hpp"

namespace rankwright::bindings {

// Views of the strings in a sequence, which it keeps alive. Lone surrogates, which UTF-8 cannot have, become
// malformed bytes.
class Strings {
  public:
    explicit Strings(nb::handle sequence) : items_(nb::tuple(nb::borrow(sequence))) {
        for (nb::handle item : items_) views_.push_back(view_of(item));
    }
    std::span<const std::string_view> views() const { return views_; }

  private:
    std::string_view view_of(nb::handle item) {
        if (!PyUnicode_Check(item.ptr())) throw nb::type_error("a text must be a str");
        Py_ssize_t size = 0;
        if (const char* data = PyUnicode_AsUTF8AndSize(item.ptr(), &size))
            return {data, static_cast<std::size_t>(size)};
        PyErr_Clear();
        nb::bytes encoded = nb::borrow<nb::bytes>(item.attr("encode")("utf-8", "surrogatepass"));
        encoded_.push_back(encoded);
        return {encoded.c_str(), encoded.size()};
    }

    nb::tuple items_;
    std::vector<nb::bytes> encoded_;
    std::vector<std::string_view> views_;
};

// (places, bytes)
inline nb::tuple to_arrays(std::span<const std::string_view> texts) {
    Output<std::uint64_t> places(texts.size() + 1);
    std::uint64_t size = 0;
    places.span()[0] = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) places.span()[i + 1] = size += texts[i].size();
    Output<std::uint8_t> bytes(size);
    auto next = bytes.span().begin();
    for (const std::string_view text : texts) next = std::copy(text.begin(), text.end(), next);
    return nb::make_tuple(places.numpy(), bytes.numpy());
}

inline TextArray checked_texts(const Array<std::uint64_t>& places, const Array<std::uint8_t>& bytes) {
    require(places.size() >= 1, "texts must have at least one place");
    return {view(places), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

}  // namespace rankwright::bindings
