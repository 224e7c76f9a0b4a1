// Words of UTF-8 text: found by tables of characters, and numbered.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "readers/strings.hpp"

namespace rankwright {

enum class CharacterKind : std::uint8_t { separator, part, single };  // single: a word by itself

// Which characters belong to words, and the character that each is mapped to (its lower case), by code point. Both
// spans have the same size; later code points separate words.
struct CharacterTable {
    std::span<const std::uint8_t> kinds;    // of CharacterKind; no ASCII character is a single
    std::span<const std::uint32_t> mapped;  // code points; ASCII characters stand for ASCII characters
};

// A character of UTF-8; malformed bytes are separators of one byte each.
struct DecodedCharacter {
    std::uint32_t code;
    std::uint32_t length;
};
inline constexpr std::uint32_t kMalformed = 0xFFFFFFFF;
DecodedCharacter decode_character(const char* begin, const char* end);
// Appends the UTF-8 of a code point; returns the number of bytes, at most 4.
std::uint32_t encode_character(std::uint32_t code, char* bytes);

// In bytes. Longer words are none: they are encoded data or separators that we do not know.
inline constexpr std::size_t kLongestWord = 255;

// Finds words. One object serves one thread.
class WordReader {
  public:
    explicit WordReader(const CharacterTable& table);

    // Calls visit(word) for each word of `text` in order; `word` is empty for words that are too long. The view is
    // valid during the call, and 8 zero bytes follow it.
    template <class Visit>
    void read(std::string_view text, const Visit& visit);

  private:
    void append(std::uint32_t code) {
        if (size_ <= kLongestWord) size_ += encode_character(code, word_.data() + size_);
    }
    template <class Visit>
    void finish(const Visit& visit) {
        if (size_ == 0) return;
        std::memset(word_.data() + size_, 0, 8);
        visit(size_ <= kLongestWord ? std::string_view(word_.data(), size_) : std::string_view());
        size_ = 0;
    }
    template <class Visit>
    std::uint32_t read_wide(const char* begin, const char* end, const Visit& visit);

    CharacterTable table_;
    std::array<char, 128> ascii_;  // what an ASCII character stands for; 0: it separates
    std::array<char, kLongestWord + 16> word_;
    std::size_t size_ = 0;
};

// A hash of a word that 8 zero bytes follow.
inline std::uint64_t hash_word(std::string_view word) {
    std::uint64_t hash = word.size();
    for (std::size_t i = 0; i < word.size(); i += 8) {
        std::uint64_t bytes;
        std::memcpy(&bytes, word.data() + i, 8);
        hash = std::rotl((hash ^ bytes) * 0x9e3779b97f4a7c15u, 29);
    }
    return hash * 0x9e3779b97f4a7c15u;
}

// Numbers distinct words from 0 in order of first appearance; keeps copies of them.
class WordTable {
  public:
    WordTable() : slots_(1024) {}

    // The number of a word with this hash.
    std::uint32_t number(std::string_view word, std::uint64_t hash);
    std::size_t size() const { return words_.size(); }
    std::string_view word(std::size_t number) const { return words_[number]; }
    std::uint64_t hash(std::size_t number) const { return hashes_[number]; }

  private:
    struct Slot {
        std::uint32_t mark = 0;    // the high half of the hash
        std::uint32_t number = 0;  // plus 1; 0: free
    };
    void grow();

    std::vector<Slot> slots_;  // a power of two, at most half of them taken
    std::vector<std::uint64_t> hashes_;
    TextList words_;
};

template <class Visit>
void WordReader::read(std::string_view text, const Visit& visit) {
    const char* const end = text.data() + text.size();
    for (const char* next = text.data(); next < end;) {
        const auto byte = static_cast<unsigned char>(*next);
        if (byte >= 128) {
            next += read_wide(next, end, visit);
            continue;
        }
        if (const char letter = ascii_[byte]; letter != 0) {
            word_[size_] = letter;
            size_ += size_ <= kLongestWord;
        } else {
            finish(visit);
        }
        ++next;
    }
    finish(visit);
}

// Reads one character that is not ASCII; returns its number of bytes.
template <class Visit>
std::uint32_t WordReader::read_wide(const char* begin, const char* end, const Visit& visit) {
    const DecodedCharacter character = decode_character(begin, end);
    const auto kind = character.code < table_.kinds.size() ? CharacterKind{table_.kinds[character.code]}
                                                           : CharacterKind::separator;
    if (kind != CharacterKind::part) finish(visit);
    if (kind != CharacterKind::separator) append(table_.mapped[character.code]);
    if (kind == CharacterKind::single) finish(visit);
    return character.length;
}

}  // namespace rankwright
