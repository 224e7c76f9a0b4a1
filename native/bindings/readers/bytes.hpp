// Text between C++ and Python.
#pragma once
#include <string_view>

#include "bindings/arguments/arrays.hpp"
#include "readers/strings.hpp"

namespace rankwright::bindings {

inline nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }

inline nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

inline nb::list to_list(const TextNumbering& numbering) {
    nb::list texts;
    for (std::string_view text : numbering.texts()) texts.append(to_str(text));
    return texts;
}

inline std::string_view bytes_of(const Array<std::uint8_t>& block) {
    return {reinterpret_cast<const char*>(block.data()), block.size()};
}

}  // namespace rankwright::bindings
