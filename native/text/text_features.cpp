#include "text/text_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rankwright {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// The values of one document in one scope.
class Values {
  public:
    double& operator[](TextFeature feature) { return values_[static_cast<std::size_t>(feature)]; }

  private:
    std::array<double, static_cast<std::size_t>(TextFeature::query_length) + 1> values_{};
};

// Which features of a scope are wanted.
class Wanted {
  public:
    void add(TextFeature feature) { bits_ |= bit(feature); }
    bool has(TextFeature feature) const { return (bits_ & bit(feature)) != 0; }
    bool any(TextFeature first, TextFeature last) const {
        return (bits_ & (bit(last) | (bit(last) - bit(first)))) != 0;
    }

  private:
    static std::uint64_t bit(TextFeature feature) { return std::uint64_t{1} << static_cast<unsigned>(feature); }
    std::uint64_t bits_ = 0;
};

// A document in one scope.
struct ScopedDocument {
    std::span<const double> frequencies;  // by distinct word
    double length, distinct, norm;
};

// Logarithms of frequencies, most of which are low.
class FrequencyLogs {
  public:
    FrequencyLogs() {
        for (std::size_t c = 1; c < kLow; ++c) {
            log_[c] = std::log(static_cast<double>(c));
            log1p_[c] = std::log1p(static_cast<double>(c));
        }
    }
    double log(double c) const { return c < kLow ? log_[static_cast<std::size_t>(c)] : std::log(c); }
    double log1p(double c) const { return c < kLow ? log1p_[static_cast<std::size_t>(c)] : std::log1p(c); }

  private:
    static constexpr std::size_t kLow = 64;
    std::array<double, kLow> log_{}, log1p_{};
};
const FrequencyLogs frequency_logs;

void add_sums(const FeatureQuery& query, const ScopeWords& scope, const ScopedDocument& document, Values& sums) {
    using enum TextFeature;
    for (std::size_t word = 0; word < query.counts.size(); ++word) {
        const double c = document.frequencies[word], k = query.counts[word];
        if (c == 0.0) continue;
        const double part = c / document.length;
        sums[frequency] += k * c;
        sums[log_frequency] += k * frequency_logs.log1p(c);
        sums[normalised_frequency] += k * part;
        sums[log_normalised_frequency] += k * std::log1p(part);
        sums[idf] += k * scope.idf[word];
        sums[icf] += k * scope.icf[word];
        sums[tf_idf] += k * c * scope.idf[word];
        sums[normalised_tf_idf] += k * part * scope.idf[word];
        sums[log_tf_idf] += k * std::log1p(part * scope.rarity[word]);
        sums[log_tf_icf] += k * std::log1p(part * scope.collection_rarity[word]);
        sums[cosine] += scope.query_weights[word] * (1.0 + frequency_logs.log(c));
        sums[matched_words] += 1.0;
    }
    const double norms = scope.query_norm * document.norm;
    sums[cosine] = norms > 0.0 ? sums[cosine] / norms : 0.0;
    sums[matched_fraction] =
        query.counts.empty() ? 0.0 : sums[matched_words] / static_cast<double>(query.counts.size());
    sums[length] = document.length;
    sums[query_length] = static_cast<double>(query.words.words.size());
}

double score(const FeatureQuery& query, Weighting weighting, const ModelWeights& model,
             const ScopedDocument& document) {
    double sum =
        model.start + prior_score(weighting, model.prior, model.field, document.length, document.distinct);
    for (std::size_t word = 0; word < query.counts.size(); ++word) {
        if (document.frequencies[word] == 0.0) continue;
        sum += query.counts[word] * term_score(weighting, model.weights[word], model.scales[word], model.field,
                                               document.frequencies[word], document.length, document.distinct);
    }
    return sum;
}

void add_scores(const FeatureQuery& query, const ScopeWords& scope, const ScopedDocument& document,
                const Wanted& wanted, Values& values) {
    using enum TextFeature;
    constexpr std::array features{bm25, dirichlet, jelinek_mercer, absolute_discounting};
    for (std::size_t i = 0; i < features.size(); ++i)
        if (wanted.has(features[i]) || (features[i] == bm25 && wanted.has(log_bm25)))
            values[features[i]] = score(query, kFeatureModels[i], scope.models[i], document);
    values[log_bm25] = values[bm25] > 0.0 ? std::log(values[bm25]) : kMissing;
}

void add_positions(const WordPositions& positions, Values& values) {
    using enum TextFeature;
    const auto matched = static_cast<double>(positions.n_matched), span = static_cast<double>(positions.span);
    values[minimal_span] = positions.n_matched == 0 ? kMissing : span;
    values[span_density] = positions.n_matched == 0 ? 0.0 : matched / span;
    values[closest_pair] = positions.closest == 0 ? kMissing : static_cast<double>(positions.closest);
    for (const std::uint64_t distance : positions.neighbours)
        if (distance > 0)
            values[pair_closeness] += 1.0 / (static_cast<double>(distance) * static_cast<double>(distance));
    values[ordered_pairs] = static_cast<double>(positions.ordered_pairs);
    values[phrases] = static_cast<double>(positions.phrases);
}

std::uint64_t nearer(std::uint64_t a, std::uint64_t b) {
    return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

// Merges the positions of one more field into those of the fields before it.
void join(const WordPositions& field, WordPositions& all) {
    const bool is_better =
        field.n_matched > all.n_matched || (field.n_matched == all.n_matched && field.span < all.span);
    if (is_better) {
        all.n_matched = field.n_matched;
        all.span = field.span;
    }
    all.closest = nearer(all.closest, field.closest);
    all.ordered_pairs += field.ordered_pairs;
    all.phrases += field.phrases;
    for (std::size_t i = 0; i < field.neighbours.size(); ++i)
        all.neighbours[i] = nearer(all.neighbours[i], field.neighbours[i]);
}

// Features of documents of one segment, which must come in the order of their numbers.
class SegmentFeatures {
  public:
    SegmentFeatures(const FeatureQuery& query, const FeatureSegment& segment,
                    std::span<const FeatureColumn> columns)
        : query_(query),
          segment_(segment),
          columns_(columns),
          finder_(query.words),
          n_words_(query.counts.size()),
          positions_(n_words_),
          frequencies_(query.scopes.size() * n_words_),
          values_(query.scopes.size()),
          wanted_(query.scopes.size()) {
        for (const TermPostings& term : segment.terms) cursors_.emplace_back(term);
        for (const FeatureColumn& column : columns) wanted_[column.scope].add(column.feature);
    }

    void compute(std::uint32_t document, std::span<float> row) {
        const std::size_t n_fields = segment_.fields.size();
        std::fill(frequencies_.begin(), frequencies_.end(), 0.0);
        std::fill(values_.begin(), values_.end(), Values());
        WordPositions all;
        all.neighbours.resize(query_.words.words.empty() ? 0 : query_.words.words.size() - 1);
        double length = 0.0;
        for (std::size_t field = 0; field < n_fields; ++field) {
            const double field_length = segment_.fields[field].lengths[document];
            length += field_length;
            find(field, document);
            if (needs_positions(field) || needs_positions(n_fields)) {
                const WordPositions& field_positions = finder_.find(positions_);
                add_positions(field_positions, values_[field]);
                join(field_positions, all);
            }
            add_scope(field, document, field_length);
        }
        add_positions(all, values_[n_fields]);
        add_scope(n_fields, document, length);
        for (std::size_t c = 0; c < columns_.size(); ++c)
            row[c] = static_cast<float>(values_[columns_[c].scope][columns_[c].feature]);
    }

  private:
    bool needs_positions(std::size_t scope) const {
        return wanted_[scope].any(TextFeature::minimal_span, TextFeature::phrases);
    }

    // Finds the frequencies of the words in a field, which are added to those of all fields, and their positions.
    void find(std::size_t field, std::uint32_t document) {
        double* frequencies = frequencies_.data() + field * n_words_;
        double* all = frequencies_.data() + segment_.fields.size() * n_words_;
        for (std::size_t word = 0; word < n_words_; ++word) {
            PostingCursor& cursor = cursors_[field * n_words_ + word];
            const std::size_t posting = cursor.find(document);
            positions_[word] = {};
            if (posting == PostingCursor::kNone) continue;
            positions_[word] = cursor.term().positions_of(posting);
            frequencies[word] = static_cast<double>(positions_[word].size());
            all[word] += frequencies[word];
        }
    }

    void add_scope(std::size_t scope, std::uint32_t document, double length) {
        const std::span<const double> all = frequencies_;
        const ScopedDocument scoped{all.subspan(scope * n_words_, n_words_), length,
                                    segment_.distinct.empty() ? 0.0 : segment_.distinct[scope][document],
                                    segment_.norms.empty() ? 0.0 : segment_.norms[scope][document]};
        const Wanted& wanted = wanted_[scope];
        if (wanted.any(TextFeature::frequency, TextFeature::length) ||
            wanted.any(TextFeature::cosine, TextFeature::matched_fraction) ||
            wanted.has(TextFeature::query_length))
            add_sums(query_, query_.scopes[scope], scoped, values_[scope]);
        if (wanted.any(TextFeature::bm25, TextFeature::absolute_discounting))
            add_scores(query_, query_.scopes[scope], scoped, wanted, values_[scope]);
    }

    const FeatureQuery& query_;
    const FeatureSegment& segment_;
    std::span<const FeatureColumn> columns_;
    PositionFinder finder_;
    std::size_t n_words_;
    std::vector<PostingCursor> cursors_;
    std::vector<Numbers> positions_;   // by distinct word, in the current field
    std::vector<double> frequencies_;  // scope * n_words + word
    std::vector<Values> values_;       // by scope
    std::vector<Wanted> wanted_;       // by scope
};

}  // namespace

void text_features(const FeatureQuery& query, std::span<const FeatureColumn> columns,
                   std::span<const std::int64_t> documents, std::span<float> values) {
    std::vector<std::size_t> order(documents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return documents[a] < documents[b]; });
    auto next = order.begin();
    for (const FeatureSegment& segment : query.segments) {
        const auto size = static_cast<std::int64_t>(segment.fields.front().n_documents());
        SegmentFeatures features(query, segment, columns);
        for (; next != order.end() && documents[*next] < segment.first_document + size; ++next)
            features.compute(static_cast<std::uint32_t>(documents[*next] - segment.first_document),
                             values.subspan(*next * columns.size(), columns.size()));
    }
}

}  // namespace rankwright
