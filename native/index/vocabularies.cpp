#include "index/vocabularies.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace rankwright {
namespace {

// The postings of one term after another, in all fields that have it.
class TermWalk {
  public:
    TermWalk(std::span<const FieldPostings> fields, std::span<const Numbers> terms)
        : fields_(fields), terms_(terms), next_(fields.size()) {}

    // Fills `postings` with the next term's postings; returns whether there is a next term.
    bool advance(std::vector<TermPostings>& postings) {
        postings.clear();
        std::uint32_t current = std::numeric_limits<std::uint32_t>::max();
        for (std::size_t f = 0; f < fields_.size(); ++f)
            if (next_[f] < terms_[f].size()) current = std::min(current, terms_[f][next_[f]]);
        for (std::size_t f = 0; f < fields_.size(); ++f)
            if (next_[f] < terms_[f].size() && terms_[f][next_[f]] == current)
                postings.push_back(fields_[f].term(next_[f]++));
        return !postings.empty();
    }

  private:
    std::span<const FieldPostings> fields_;
    std::span<const Numbers> terms_;
    std::vector<std::size_t> next_;  // by field
};

}  // namespace

Vocabularies document_vocabularies(std::span<const FieldPostings> fields, std::span<const Numbers> terms) {
    const std::size_t n_documents = fields.front().n_documents();
    std::vector<std::uint32_t> distinct(n_documents);
    std::vector<double> squares(n_documents);
    std::vector<std::uint32_t> frequencies(n_documents);  // of the current term
    std::vector<TermPostings> lists;
    const auto add = [&](std::uint32_t document, double frequency) {
        const double weight = frequency == 1.0 ? 1.0 : 1.0 + std::log(frequency);
        squares[document] += weight * weight;
        ++distinct[document];
    };
    for (TermWalk walk(fields, terms); walk.advance(lists);) {
        if (lists.size() == 1) {
            for (std::size_t i = 0; i < lists[0].size(); ++i) add(lists[0].documents[i], lists[0].frequency(i));
            continue;
        }
        for (const TermPostings& list : lists)
            for (std::size_t i = 0; i < list.size(); ++i) frequencies[list.documents[i]] += list.frequency(i);
        for (const TermPostings& list : lists) {
            for (const std::uint32_t document : list.documents) {
                if (frequencies[document] > 0) add(document, frequencies[document]);
                frequencies[document] = 0;
            }
        }
    }
    std::vector<float> norms(n_documents);
    std::transform(squares.begin(), squares.end(), norms.begin(),
                   [](double square) { return static_cast<float>(std::sqrt(square)); });
    return {std::move(distinct), std::move(norms)};
}

std::int64_t count_documents(std::span<const TermPostings> terms, std::span<const std::uint64_t> removed) {
    std::vector<std::uint32_t> all, joined;
    for (const TermPostings& term : terms) {
        joined.clear();
        std::set_union(all.begin(), all.end(), term.documents.begin(), term.documents.end(),
                       std::back_inserter(joined));
        std::swap(all, joined);
    }
    if (removed.empty()) return static_cast<std::int64_t>(all.size());
    return std::count_if(all.begin(), all.end(), [&](std::uint32_t document) {
        return (removed[document / 64] >> document % 64 & 1) == 0;
    });
}

}  // namespace rankwright
