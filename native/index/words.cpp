#include "index/words.hpp"

namespace rankwright {
namespace {

constexpr DecodedCharacter kBroken{kMalformed, 1};

std::uint32_t length_from_lead(unsigned char lead) {
    if (lead >= 0xF0) return lead < 0xF8 ? 4 : 0;
    if (lead >= 0xE0) return 3;
    return lead >= 0xC0 ? 2 : 0;
}

}  // namespace

DecodedCharacter decode_character(const char* begin, const char* end) {
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const auto lead = static_cast<unsigned char>(*begin);
    if (lead < 0x80) return {lead, 1};
    const std::uint32_t length = length_from_lead(lead);
    if (length == 0 || length > static_cast<std::size_t>(end - begin)) return kBroken;
    std::uint32_t code = lead & (0x7Fu >> length);
    for (std::uint32_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(begin[i]);
        if ((byte & 0xC0) != 0x80) return kBroken;
        code = code << 6 | (byte & 0x3Fu);
    }
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[length] || code > 0x10FFFF || is_surrogate ? kBroken : DecodedCharacter{code, length};
}

std::uint32_t encode_character(std::uint32_t code, char* bytes) {
    if (code < 0x80) {
        bytes[0] = static_cast<char>(code);
        return 1;
    }
    const std::uint32_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (std::uint32_t i = length - 1; i > 0; --i, code >>= 6) bytes[i] = static_cast<char>(0x80 | (code & 0x3F));
    bytes[0] = static_cast<char>((0xF00u >> length & 0xFF) | code);
    return length;
}

WordReader::WordReader(const CharacterTable& table) : table_(table) {
    for (std::size_t code = 0; code < ascii_.size(); ++code) {
        const bool is_part = code < table.kinds.size() && table.kinds[code] != 0;
        ascii_[code] = is_part ? static_cast<char>(table.mapped[code]) : '\0';
    }
}

std::uint32_t WordTable::number(std::string_view word, std::uint64_t hash) {
    const auto mark = static_cast<std::uint32_t>(hash >> 32);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t index = hash & mask;; index = (index + 1) & mask) {
        Slot& slot = slots_[index];
        if (slot.number == 0) {
            words_.add(word);
            hashes_.push_back(hash);
            slot = {mark, static_cast<std::uint32_t>(words_.size())};
            const std::uint32_t number = slot.number - 1;
            if (2 * words_.size() > slots_.size()) grow();
            return number;
        }
        if (slot.mark == mark && words_[slot.number - 1] == word) return slot.number - 1;
    }
}

void WordTable::grow() {
    std::vector<Slot> larger(2 * slots_.size());
    const std::size_t mask = larger.size() - 1;
    for (std::size_t number = 0; number < hashes_.size(); ++number) {
        std::size_t index = hashes_[number] & mask;
        while (larger[index].number != 0) index = (index + 1) & mask;
        larger[index] = {static_cast<std::uint32_t>(hashes_[number] >> 32),
                         static_cast<std::uint32_t>(number + 1)};
    }
    slots_.swap(larger);
}

}  // namespace rankwright
