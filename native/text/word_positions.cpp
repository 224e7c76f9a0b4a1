#include "text/word_positions.hpp"

#include <algorithm>
#include <limits>

namespace rankwright {
namespace {

constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();

std::uint64_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

// The smallest distance of a position of one list and one of the other; kFar if one is empty.
std::uint64_t smallest_distance(Numbers a, Numbers b) {
    std::uint64_t least = kFar;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        least = std::min(least, distance(a[i], b[j]));
        a[i] < b[j] ? ++i : ++j;
    }
    return least;
}

// Whether a list has the position `from + offset`.
bool has(Numbers positions, std::uint32_t from, std::int64_t offset) {
    const std::int64_t wanted = from + offset;
    if (wanted < 0 || wanted > std::numeric_limits<std::uint32_t>::max()) return false;
    return std::binary_search(positions.begin(), positions.end(), static_cast<std::uint32_t>(wanted));
}

}  // namespace

PositionFinder::PositionFinder(const QueryWords& query) : query_(query), counts_(query.n_distinct) {
    result_.neighbours.resize(query.words.empty() ? 0 : query.words.size() - 1);
}

const WordPositions& PositionFinder::find(std::span<const Numbers> positions) {
    result_.n_matched = static_cast<std::size_t>(
        std::count_if(positions.begin(), positions.end(), [](Numbers list) { return !list.empty(); }));
    result_.span = result_.closest = 0;
    result_.ordered_pairs = result_.phrases = 0;
    std::fill(result_.neighbours.begin(), result_.neighbours.end(), 0);
    if (result_.n_matched == 0) return result_;
    merge(positions);
    find_span();
    find_closest();
    find_neighbours(positions);
    if (result_.n_matched == positions.size()) count_phrases(positions);
    return result_;
}

void PositionFinder::merge(std::span<const Numbers> positions) {
    merged_.clear();
    for (std::size_t word = 0; word < positions.size(); ++word)
        for (const std::uint32_t position : positions[word])
            merged_.push_back({position, static_cast<std::uint32_t>(word)});
    std::sort(merged_.begin(), merged_.end(),
              [](const Occurrence& a, const Occurrence& b) { return a.position < b.position; });
}

// A window that always ends with the next occurrence and begins as late as it may.
void PositionFinder::find_span() {
    std::fill(counts_.begin(), counts_.end(), 0);
    std::size_t begin = 0, n_inside = 0;
    std::uint64_t least = kFar;
    for (const Occurrence& last : merged_) {
        n_inside += counts_[last.word]++ == 0;
        while (counts_[merged_[begin].word] > 1) --counts_[merged_[begin++].word];
        if (n_inside == result_.n_matched)
            least = std::min(least, distance(merged_[begin].position, last.position) + 1);
    }
    result_.span = least;
}

// The closest two different words have no other word of the query between them.
void PositionFinder::find_closest() {
    std::uint64_t least = kFar;
    for (std::size_t i = 1; i < merged_.size(); ++i)
        if (merged_[i].word != merged_[i - 1].word)
            least = std::min(least, distance(merged_[i - 1].position, merged_[i].position));
    result_.closest = least == kFar ? 0 : least;
}

void PositionFinder::find_neighbours(std::span<const Numbers> positions) {
    for (std::size_t i = 0; i < result_.neighbours.size(); ++i) {
        const std::size_t word = query_.words[i], next = query_.words[i + 1];
        const std::int64_t offset = query_.positions[i + 1] - query_.positions[i];
        for (const std::uint32_t from : positions[word])
            result_.ordered_pairs += has(positions[next], from, offset);
        const std::uint64_t least = word == next ? kFar : smallest_distance(positions[word], positions[next]);
        result_.neighbours[i] = least == kFar ? 0 : least;
    }
}

// Tries each position of the rarest word.
void PositionFinder::count_phrases(std::span<const Numbers> positions) {
    std::size_t rarest = 0;
    for (std::size_t i = 1; i < query_.words.size(); ++i)
        if (positions[query_.words[i]].size() < positions[query_.words[rarest]].size()) rarest = i;
    for (const std::uint32_t from : positions[query_.words[rarest]]) {
        bool all = true;
        for (std::size_t i = 0; all && i < query_.words.size(); ++i)
            all = has(positions[query_.words[i]], from, query_.positions[i] - query_.positions[rarest]);
        result_.phrases += all;
    }
}

}  // namespace rankwright
