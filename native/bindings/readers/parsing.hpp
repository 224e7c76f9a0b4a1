// Parsers that are fed with blocks of a file.
#pragma once
#include <optional>

#include "bindings/arguments/guarded.hpp"
#include "bindings/readers/bytes.hpp"

namespace rankwright::bindings {

// (line, fault, text), or None.
template <class Fault>
nb::object to_tuple(const std::optional<TextError<Fault>>& error) {
    if (!error) return nb::none();
    return nb::make_tuple(error->line, error->fault, to_bytes(error->text));
}

template <class Parser>
nb::object feed(Guarded<Parser>& parser, const Array<std::uint8_t>& block) {
    const auto turn = take_turn(parser);
    const auto error = [&] {
        nb::gil_scoped_release release;
        return parser.feed(bytes_of(block));
    }();
    return to_tuple(error);
}

}  // namespace rankwright::bindings
