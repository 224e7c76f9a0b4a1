#include "index/postings.hpp"

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

bool is_range(Places places, std::size_t i, std::size_t size) {
    return places[i] <= places[i + 1] && places[i + 1] <= size;
}

bool increases_below(Numbers numbers, std::size_t limit) {
    bool sound = numbers.empty() || numbers.back() < limit;
    for (std::size_t i = 1; i < numbers.size(); ++i) sound &= numbers[i - 1] < numbers[i];
    return sound;
}

bool has_sound_impacts(const FieldPostings& field, std::size_t term) {
    const std::size_t size = field.frequency_in_documents(term);
    if (!is_range(field.block_places, term, field.impact_places.size() - 1)) return false;
    const std::size_t first = field.block_places[term], end = field.block_places[term + 1];
    if (end - first != (size + kBlock - 1) / kBlock) return false;
    for (std::size_t block = first; block < end; ++block) {
        const std::size_t last = std::min((block - first + 1) * kBlock, size) - 1;
        if (field.block_ends[block] != field.documents[field.posting_places[term] + last]) return false;
        if (!is_range(field.impact_places, block, field.impacts.size())) return false;
    }
    return true;
}

// Keeps those of the impacts that no other exceeds; in the order of falling frequency.
void keep_best(std::vector<Impact>& candidates, std::vector<Impact>& impacts) {
    std::sort(candidates.begin(), candidates.end(), [](const Impact& a, const Impact& b) {
        return a.frequency != b.frequency ? a.frequency > b.frequency : a.length < b.length;
    });
    std::uint64_t shortest = std::uint64_t{1} << 32;
    for (const Impact& impact : candidates) {
        if (impact.length >= shortest) continue;
        impacts.push_back(impact);
        shortest = impact.length;
    }
    candidates.clear();
}

// The shortest field for every low frequency, so that few candidates are sorted.
class BlockFront {
  public:
    void add(const Impact& impact) {
        if (impact.frequency >= kLow) {
            candidates_.push_back(impact);
        } else if (impact.length < shortest_[impact.frequency]) {
            shortest_[impact.frequency] = impact.length;
        }
    }
    void finish(std::vector<Impact>& impacts) {
        for (std::uint32_t frequency = 1; frequency < kLow; ++frequency) {
            if (shortest_[frequency] == kNone) continue;
            candidates_.push_back({frequency, shortest_[frequency]});
            shortest_[frequency] = kNone;
        }
        keep_best(candidates_, impacts);
    }
    BlockFront() { std::fill(std::begin(shortest_), std::end(shortest_), kNone); }

  private:
    static constexpr std::uint32_t kLow = 8, kNone = 0xFFFFFFFF;
    std::uint32_t shortest_[kLow];
    std::vector<Impact> candidates_;
};

// The impacts of the terms [first, last), with ends[b] for the b-th of their blocks.
struct ImpactPart {
    std::vector<Impact> impacts;
    std::vector<std::uint64_t> ends;
    std::vector<std::uint32_t> last_documents;

    void add_term(Numbers documents, Numbers position_ends, Numbers lengths) {
        BlockFront front;
        std::uint32_t start = 0;
        for (std::size_t i = 0; i < documents.size(); ++i) {
            front.add({position_ends[i] - start, lengths[documents[i]]});
            start = position_ends[i];
            if ((i + 1) % kBlock == 0 || i + 1 == documents.size()) {
                front.finish(impacts);
                ends.push_back(impacts.size());
                last_documents.push_back(documents[i]);
            }
        }
    }
};

void append(const std::vector<ImpactPart>& parts, Impacts& result) {
    result.impact_places.assign(1, 0);
    for (const ImpactPart& part : parts) {
        const std::size_t base = result.impacts.size();
        for (std::uint64_t end : part.ends) result.impact_places.push_back(base + end);
        result.block_ends.insert(result.block_ends.end(), part.last_documents.begin(), part.last_documents.end());
        result.impacts.insert(result.impacts.end(), part.impacts.begin(), part.impacts.end());
    }
}

}  // namespace

bool is_sound(const FieldPostings& field, std::size_t term) {
    if (!is_range(field.posting_places, term, field.documents.size())) return false;
    if (!is_range(field.position_places, term, field.positions.size())) return false;
    if (!has_sound_impacts(field, term)) return false;
    const TermPostings postings = field.term(term);
    const std::size_t n_positions = postings.positions.size();
    if (postings.size() == 0) return n_positions == 0;
    return increases_below(postings.documents, field.n_documents()) && postings.position_ends.front() > 0 &&
           increases_below(postings.position_ends, n_positions + 1) &&
           postings.position_ends.back() == n_positions;
}

Impacts block_impacts(Places posting_places, Numbers documents, Numbers position_ends, Numbers lengths,
                      int n_threads) {
    constexpr std::size_t grain = 1024;
    const std::size_t n_terms = posting_places.size() - 1;
    std::vector<ImpactPart> parts((n_terms + grain - 1) / grain);
    parallel_ranges(n_terms, grain, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t term = first; term < last; ++term) {
            const std::size_t begin = posting_places[term], size = posting_places[term + 1] - begin;
            parts[first / grain].add_term(documents.subspan(begin, size), position_ends.subspan(begin, size),
                                          lengths);
        }
    });
    Impacts result;
    result.block_places.assign(1, 0);
    for (std::size_t term = 0; term < n_terms; ++term) {
        const std::size_t size = posting_places[term + 1] - posting_places[term];
        result.block_places.push_back(result.block_places.back() + (size + kBlock - 1) / kBlock);
    }
    append(parts, result);
    return result;
}

std::vector<std::uint32_t> shortest_lengths(Numbers lengths) {
    std::vector<std::uint32_t> shortest;
    for (std::size_t begin = 0; begin < lengths.size(); begin += kWindow) {
        const auto window = lengths.subspan(begin, std::min(kWindow, lengths.size() - begin));
        shortest.push_back(*std::min_element(window.begin(), window.end()));
    }
    return shortest;
}

Occurrences count_occurrences(const TermPostings& term, Numbers documents) {
    Occurrences occurrences;
    auto next = term.documents.begin();
    for (const std::uint32_t document : documents) {
        next = std::lower_bound(next, term.documents.end(), document);
        if (next == term.documents.end()) break;
        if (*next != document) continue;
        ++occurrences.documents;
        occurrences.positions += term.frequency(static_cast<std::size_t>(next - term.documents.begin()));
    }
    return occurrences;
}

}  // namespace rankwright
