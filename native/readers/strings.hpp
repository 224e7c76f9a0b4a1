// Strings in UTF-8: checks, compact lists, and errors that quote them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankwright {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Whether `bytes` are well-formed UTF-8 without NUL, which numpy's fixed-width strings drop at the end.
bool is_text(std::string_view bytes);

// The number of characters of well-formed UTF-8.
std::size_t n_characters(std::string_view text);

// The start of text that is too long to be quoted in an error.
inline std::string_view start_of(std::string_view text) { return text.substr(0, 64); }

// An error in a text file.
template <class Fault>
struct TextError {
    std::int64_t line;  // from 1
    Fault fault;
    std::string text;  // the text at fault
};

// Many short strings in one allocation.
class TextList {
  public:
    void add(std::string_view text) {
        text_.append(text);
        ends_.push_back(text_.size());
    }
    void clear() {
        text_.clear();
        ends_.clear();
    }
    std::size_t size() const { return ends_.size(); }
    bool all_empty() const { return text_.empty(); }
    std::string_view operator[](std::size_t i) const {
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(text_).substr(begin, ends_[i] - begin);
    }

  private:
    std::string text_;
    std::vector<std::size_t> ends_;
};

// Numbers distinct strings from 0 in order of first appearance. Keeps views: the strings must outlive it.
class TextNumbering {
  public:
    std::int64_t number(std::string_view text) {
        const auto [entry, is_new] = numbers_.try_emplace(text, static_cast<std::int64_t>(texts_.size()));
        if (is_new) texts_.push_back(text);
        return entry->second;
    }
    std::span<const std::string_view> texts() const { return texts_; }

  private:
    std::unordered_map<std::string_view, std::int64_t> numbers_;
    std::vector<std::string_view> texts_;
};

}  // namespace rankwright
