#include "text/nearest.hpp"

#include "simd/vector_kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kChunkDocuments = 8 * kGroupDocuments;  // packed together: they stay in a cache
constexpr std::size_t kQueriesAtOnce = 96;                    // a multiple of those of any path
constexpr std::size_t kFewQueries = 4;                        // for which packing does not pay
constexpr std::size_t kLanesTested = 16;

// Neighbouring rows of a segment.
struct Chunk {
    const SegmentVectors* segment;
    std::size_t first, size;
    std::int64_t number;  // of the first row in all segments
};

std::vector<Chunk> chunks_of(std::span<const SegmentVectors> segments) {
    std::vector<Chunk> chunks;
    std::int64_t number = 0;
    for (const SegmentVectors& segment : segments) {
        for (std::size_t first = 0; first < segment.n_rows; first += kChunkDocuments)
            chunks.push_back({&segment, first, std::min(kChunkDocuments, segment.n_rows - first),
                              number + static_cast<std::int64_t>(first)});
        number += static_cast<std::int64_t>(segment.n_rows);
    }
    return chunks;
}

float score_of(std::int32_t sum, float scale) { return static_cast<float>(sum) * scale; }

// Scores chunks of documents for all queries; chunks must come in the order of their documents.
class NearestSearch {
  public:
    NearestSearch(const QueryVectors& queries, const std::vector<std::int16_t>& padded, std::size_t n,
                  SimdPath path)
        : queries_(queries),
          padded_(padded),
          kernels_(vector_kernels(path)),
          n_pairs_((queries.n_components + 1) / 2),
          best_(queries.n_queries, Best(n)) {}

    void add(const Chunk& chunk) {
        if (queries_.n_queries < kFewQueries)
            add_by_rows(chunk);
        else
            add_packed(chunk);
    }
    std::vector<Best>& best() { return best_; }

  private:
    void add_by_rows(const Chunk& chunk) {
        const std::size_t size = queries_.n_components;
        for (std::size_t q = 0; q < queries_.n_queries; ++q) {
            for (std::size_t i = 0; i < chunk.size; ++i)
                scores_[i] = score_of(kernels_.product(chunk.segment->rows + (chunk.first + i) * size,
                                                       queries_.rows + q * size, size),
                                      chunk.segment->scales[chunk.first + i]);
            keep_best(chunk, best_[q]);
        }
    }

    void add_packed(const Chunk& chunk) {
        pack(chunk);
        const std::size_t n_groups = (chunk.size + kGroupDocuments - 1) / kGroupDocuments;
        const std::size_t stride = n_groups * kGroupDocuments;
        sums_.resize(kQueriesAtOnce * stride);
        for (std::size_t first = 0; first < queries_.n_queries; first += kQueriesAtOnce) {
            const std::size_t count = std::min(kQueriesAtOnce, queries_.n_queries - first);
            kernels_.packed_products(packed_.data(), n_groups, padded_.data() + 2 * first * n_pairs_, count,
                                     n_pairs_, sums_.data());
            for (std::size_t q = 0; q < count; ++q) {
                const float* const scales = chunk.segment->scales.data() + chunk.first;
                for (std::size_t i = 0; i < chunk.size; ++i)
                    scores_[i] = score_of(sums_[q * stride + i], scales[i]);
                keep_best(chunk, best_[first + q]);
            }
        }
    }

    void pack(const Chunk& chunk) {
        const std::size_t n_groups = (chunk.size + kGroupDocuments - 1) / kGroupDocuments;
        packed_.assign(2 * n_groups * n_pairs_ * kGroupDocuments, 0);
        for (std::size_t i = 0; i < chunk.size; ++i) {
            const std::int8_t* const row = chunk.segment->rows + (chunk.first + i) * queries_.n_components;
            std::int16_t* const group = packed_.data() + 2 * (i / kGroupDocuments) * n_pairs_ * kGroupDocuments;
            std::int16_t* const lane = group + 2 * (i % kGroupDocuments);
            for (std::size_t c = 0; c < queries_.n_components; ++c)
                lane[(c / 2) * 2 * kGroupDocuments + c % 2] = row[c];
        }
    }

    void keep_best(const Chunk& chunk, Best& best) {
        for (std::size_t begin = 0; begin < chunk.size; begin += kLanesTested) {
            const std::size_t end = std::min(begin + kLanesTested, chunk.size);
            const auto threshold = static_cast<float>(best.threshold());  // a score, or minus infinity
            bool has_any = false;
            for (std::size_t i = begin; i < end; ++i) has_any |= scores_[i] > threshold;
            for (std::size_t i = begin; has_any && i < end; ++i)
                if (!is_removed(*chunk.segment, chunk.first + i))
                    best.add(scores_[i], chunk.number + static_cast<std::int64_t>(i));
        }
    }

    static bool is_removed(const SegmentVectors& segment, std::size_t row) {
        return !segment.removed.empty() && (segment.removed[row / 64] >> row % 64 & 1) != 0;
    }

    const QueryVectors& queries_;
    const std::vector<std::int16_t>& padded_;  // the queries, with an even number of components
    const VectorKernels& kernels_;
    std::size_t n_pairs_;
    std::vector<Best> best_;
    std::vector<std::int16_t> packed_;
    std::vector<std::int32_t> sums_;
    float scores_[kChunkDocuments];
};

std::vector<std::int16_t> padded_queries(const QueryVectors& queries) {
    const std::size_t width = (queries.n_components + 1) / 2 * 2;
    std::vector<std::int16_t> padded(queries.n_queries * width, 0);
    for (std::size_t q = 0; q < queries.n_queries; ++q)
        std::copy_n(queries.rows + q * queries.n_components, queries.n_components, padded.data() + q * width);
    return padded;
}

}  // namespace

std::vector<std::vector<ScoredDocument>> nearest_vectors(std::span<const SegmentVectors> segments,
                                                         const QueryVectors& queries, std::size_t n, int n_threads,
                                                         SimdPath path) {
    const std::vector<Chunk> chunks = chunks_of(segments);
    const std::vector<std::int16_t> padded = padded_queries(queries);
    const std::size_t n_parts =
        std::max<std::size_t>(1, std::min(chunks.size(), static_cast<std::size_t>(n_threads)));
    std::vector<std::vector<Best>> parts(n_parts);
    parallel_for(n_parts, n_threads, [&](std::size_t part) {
        NearestSearch search(queries, padded, n, path);
        for (std::size_t i = part * chunks.size() / n_parts; i < (part + 1) * chunks.size() / n_parts; ++i)
            search.add(chunks[i]);
        parts[part] = std::move(search.best());
    });
    std::vector<std::vector<ScoredDocument>> results(queries.n_queries);
    parallel_for(queries.n_queries, n_threads, [&](std::size_t q) {
        Best best(n);
        for (auto& part : parts)
            for (const ScoredDocument& scored : std::move(part[q]).sorted())
                best.add(scored.score, scored.document);
        results[q] = std::move(best).sorted();
    });
    return results;
}

double vector_score(std::span<const SegmentVectors> segments, const QueryVectors& queries, std::size_t query,
                    std::int64_t document, SimdPath path) {
    auto row = static_cast<std::size_t>(document);
    std::size_t s = 0;
    for (; row >= segments[s].n_rows; ++s) row -= segments[s].n_rows;
    const std::size_t size = queries.n_components;
    return score_of(vector_kernels(path).product(segments[s].rows + row * size, queries.rows + query * size, size),
                    segments[s].scales[row]);
}

}  // namespace rankwright
