#include "index/sorted_texts.hpp"

#include <algorithm>
#include <numeric>

#include "index/inversion.hpp"

namespace rankwright {
namespace {

// The first eight bytes as a number that has the same order.
std::uint64_t leading(std::string_view text) {
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < 8; ++i)
        key = key << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
    return key;
}

template <class At>
std::int64_t search(std::size_t size, std::string_view wanted, const At& at) {
    std::size_t first = 0, last = size;
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        if (at(middle) < wanted)
            first = middle + 1;
        else
            last = middle;
    }
    return first < size && at(first) == wanted ? static_cast<std::int64_t>(first) : -1;
}

}  // namespace

std::int64_t find_text(const TextArray& texts, std::string_view wanted) {
    return search(texts.size(), wanted, [&](std::size_t i) { return texts[i]; });
}

std::int64_t find_text(const TextArray& texts, Numbers order, std::string_view wanted) {
    const auto at = [&](std::size_t i) { return order[i] < texts.size() ? texts[order[i]] : std::string_view(); };
    const std::int64_t position = search(order.size(), wanted, at);
    if (position < 0) return -1;
    const std::uint32_t number = order[static_cast<std::size_t>(position)];
    return number < texts.size() ? static_cast<std::int64_t>(number) : -1;
}

std::vector<std::uint32_t> order_of_texts(std::span<const std::string_view> texts) {
    struct Key {
        std::uint64_t leading;
        std::uint32_t number;
    };
    std::vector<Key> keys(texts.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {leading(texts[i]), static_cast<std::uint32_t>(i)};
    std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
        if (a.leading != b.leading) return a.leading < b.leading;
        const int compared = texts[a.number].compare(texts[b.number]);
        return compared != 0 ? compared < 0 : a.number < b.number;
    });
    std::vector<std::uint32_t> order(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].number;
    return order;
}

SortedTerms sort_terms(std::span<const std::optional<std::string_view>> term_of_word) {
    std::vector<std::string_view> texts;
    std::vector<std::size_t> words;
    for (std::size_t word = 0; word < term_of_word.size(); ++word) {
        if (!term_of_word[word]) continue;
        texts.push_back(*term_of_word[word]);
        words.push_back(word);
    }
    SortedTerms sorted;
    sorted.term_of.assign(term_of_word.size(), kNoTerm);
    for (const std::uint32_t i : order_of_texts(texts)) {
        if (sorted.terms.empty() || sorted.terms.back() != texts[i]) sorted.terms.push_back(texts[i]);
        sorted.term_of[words[i]] = static_cast<std::uint32_t>(sorted.terms.size() - 1);
    }
    return sorted;
}

MergedTexts merge_texts(std::span<const TextArray> lists) {
    MergedTexts merged;
    for (const TextArray& list : lists) merged.number_of.emplace_back(list.size());
    std::vector<std::size_t> next(lists.size(), 0);
    for (;;) {
        std::optional<std::string_view> least;
        for (std::size_t i = 0; i < lists.size(); ++i)
            if (next[i] < lists[i].size() && (!least || lists[i][next[i]] < *least)) least = lists[i][next[i]];
        if (!least) return merged;
        for (std::size_t i = 0; i < lists.size(); ++i)
            if (next[i] < lists[i].size() && lists[i][next[i]] == *least)
                merged.number_of[i][next[i]++] = static_cast<std::uint32_t>(merged.texts.size());
        merged.texts.push_back(*least);
    }
}

}  // namespace rankwright
