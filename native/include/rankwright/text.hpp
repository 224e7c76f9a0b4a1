// Bytes that claim to be text.
#pragma once
#include <string_view>

namespace rankwright {

// Whether `bytes` are well-formed UTF-8 with no NUL, which fixed-width arrays of strings cannot hold at their
// end.
bool is_text(std::string_view bytes);

}  // namespace rankwright
