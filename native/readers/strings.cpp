#include "readers/strings.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace rankwright {
namespace {

bool is_plain(char c) { return c > 0 && static_cast<unsigned char>(c) < 0x80; }
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t length_from_lead(unsigned char lead) {
    if (lead >= 0xF0) return lead < 0xF8 ? 4 : 0;
    if (lead >= 0xE0) return 3;
    return lead >= 0xC0 ? 2 : 0;
}

// The number of bytes of the non-ASCII character at the start of `bytes`; 0 if it is malformed.
std::size_t character_length(std::string_view bytes) {
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const auto lead = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = length_from_lead(lead);
    if (length == 0 || length > bytes.size()) return 0;
    std::uint32_t code = lead & (0x7Fu >> length);
    for (char c : bytes.substr(1, length - 1)) {
        if (!is_continuation(c)) return 0;
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
    }
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[length] || code > 0x10FFFF || is_surrogate ? 0 : length;
}

}  // namespace

bool is_text(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto odd = std::find_if_not(bytes.begin(), bytes.end(), is_plain);
        if (odd == bytes.end()) return true;
        bytes.remove_prefix(static_cast<std::size_t>(odd - bytes.begin()));
        const std::size_t length = character_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

std::size_t n_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), std::not_fn(is_continuation)));
}

}  // namespace rankwright
