#include "index/inversion.hpp"

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1}
                                    << 19;  // enough that few of its words are new, small enough for caches
constexpr std::size_t kMostPartitions = 16;
constexpr std::uint64_t kTooLong = 0;  // the word without letters, and its hash

// The texts [first, last) of each chunk.
std::vector<std::size_t> chunk_ends(std::span<const std::string_view> texts) {
    std::vector<std::size_t> ends;
    std::size_t size = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        size += texts[i].size();
        if (size < kChunkBytes && i + 1 < texts.size()) continue;
        ends.push_back(i + 1);
        size = 0;
    }
    return ends;
}

}  // namespace

// The words of consecutive documents, numbered by a table of their own.
struct WordedDocuments::Chunk {
    WordTable table;
    Part part;

    void read(std::span<const std::string_view> texts, const CharacterTable& characters) {
        WordReader reader(characters);
        for (const std::string_view text : texts) {
            reader.read(text, [&](std::string_view word) {
                part.words.push_back(table.number(word, word.empty() ? kTooLong : hash_word(word)));
            });
            part.ends.push_back(static_cast<std::uint32_t>(part.words.size()));
        }
    }

    // Numbers of the chunk's words in a table for all.
    std::vector<std::uint32_t> numbers_in(WordTable& vocabulary) const {
        std::vector<std::uint32_t> numbers(table.size());
        for (std::size_t word = 0; word < numbers.size(); ++word)
            numbers[word] = vocabulary.number(table.word(word), table.hash(word));
        return numbers;
    }

    void renumber(const std::vector<std::uint32_t>& numbers) {
        std::vector<std::uint32_t> words(part.words.size());  // exactly as large as needed
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = numbers[part.words[i]];
        part.words.swap(words);
    }
};

WordedDocuments::WordedDocuments() { vocabulary_.number({}, kTooLong); }

void WordedDocuments::add_texts(std::span<const std::string_view> texts, const CharacterTable& characters,
                                int n_threads) {
    const std::vector<std::size_t> ends = chunk_ends(texts);
    std::vector<Chunk> chunks(ends.size());
    parallel_for(chunks.size(), n_threads, [&](std::size_t i) {
        const std::size_t first = i == 0 ? 0 : ends[i - 1];
        chunks[i].read(texts.subspan(first, ends[i] - first), characters);
    });
    keep(chunks, n_threads);
}

void WordedDocuments::keep(std::vector<Chunk>& chunks, int n_threads) {
    std::vector<std::vector<std::uint32_t>> numbers(chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) numbers[i] = chunks[i].numbers_in(vocabulary_);
    parallel_for(chunks.size(), n_threads, [&](std::size_t i) { chunks[i].renumber(numbers[i]); });
    for (Chunk& chunk : chunks) {
        chunk.part.first_document = n_documents_;
        n_documents_ += chunk.part.ends.size();
        n_words_ += chunk.part.words.size();
        parts_.push_back(std::move(chunk.part));
    }
}

void WordedDocuments::add_words(std::span<const std::string_view> words) {
    if (parts_.empty() || parts_.back().words.size() > kChunkBytes) parts_.push_back({{}, {}, n_documents_});
    Part& part = parts_.back();
    for (const std::string_view word : words)
        part.words.push_back(
            vocabulary_.number(word, word.empty() ? kTooLong : std::hash<std::string_view>{}(word)));
    part.ends.push_back(static_cast<std::uint32_t>(part.words.size()));
    ++n_documents_;
    n_words_ += words.size();
}

Inversion::Inversion(const WordedDocuments& documents, Numbers term_of, std::size_t n_terms, int n_threads)
    : documents_(documents), term_of_(term_of), n_terms_(n_terms), n_threads_(n_threads) {
    const std::size_t n_parts = documents.parts().size();
    const auto wanted = std::min<std::size_t>(static_cast<std::size_t>(std::max(n_threads, 1)), kMostPartitions);
    const std::size_t n_partitions = std::max<std::size_t>(1, std::min(wanted, n_parts));
    for (std::size_t partition = 0; partition <= n_partitions; ++partition)
        partitions_.push_back(n_parts * partition / n_partitions);
    cursors_.resize(n_partitions);
    parallel_for(n_partitions, n_threads, [&](std::size_t partition) { count(partition); });
    set_places();
}

// Calls visit(document, words) for the documents of a partition.
template <class Visit>
void Inversion::visit(std::size_t partition, const Visit& visit) const {
    for (std::size_t i = partitions_[partition]; i < partitions_[partition + 1]; ++i) {
        const WordedDocuments::Part& part = documents_.parts()[i];
        std::size_t begin = 0;
        for (std::size_t row = 0; row < part.ends.size(); ++row) {
            visit(static_cast<std::uint32_t>(part.first_document + row),
                  Numbers(part.words).subspan(begin, part.ends[row] - begin));
            begin = part.ends[row];
        }
    }
}

void Inversion::count(std::size_t partition) {
    std::vector<Cursor> counts(n_terms_);
    std::vector<std::uint32_t> latest(n_terms_, kNoTerm);  // the latest document of each term
    visit(partition, [&](std::uint32_t document, Numbers words) {
        for (const std::uint32_t word : words) {
            const std::uint32_t term = term_of_[word];
            if (term == kNoTerm) continue;
            counts[term].postings += latest[term] != document;
            ++counts[term].positions;
            latest[term] = document;
        }
    });
    cursors_[partition].swap(counts);
}

// Turns counts into places: of terms, and within a term of shares.
void Inversion::set_places() {
    posting_places_.assign(n_terms_ + 1, 0);
    position_places_.assign(n_terms_ + 1, 0);
    for (std::size_t term = 0; term < n_terms_; ++term) {
        Cursor sum;
        for (std::vector<Cursor>& cursors : cursors_) {
            const Cursor counts = cursors[term];
            cursors[term] = sum;
            sum.postings += counts.postings;
            sum.positions += counts.positions;
        }
        posting_places_[term + 1] = posting_places_[term] + sum.postings;
        position_places_[term + 1] = position_places_[term] + sum.positions;
    }
}

void Inversion::fill(std::span<std::uint32_t> documents, std::span<std::uint32_t> position_ends,
                     std::span<std::uint32_t> positions, std::span<std::uint32_t> lengths) {
    parallel_for(cursors_.size(), n_threads_, [&](std::size_t partition) {
        std::vector<Cursor>& cursors = cursors_[partition];
        std::vector<std::uint32_t> latest(n_terms_, kNoTerm);
        visit(partition, [&](std::uint32_t document, Numbers words) {
            std::uint32_t length = 0;
            for (std::size_t position = 0; position < words.size(); ++position) {
                const std::uint32_t term = term_of_[words[position]];
                if (term == kNoTerm) continue;
                ++length;
                Cursor& cursor = cursors[term];
                cursor.postings += latest[term] != document;
                latest[term] = document;
                positions[position_places_[term] + cursor.positions] = static_cast<std::uint32_t>(position);
                const std::size_t posting = posting_places_[term] + cursor.postings - 1;
                documents[posting] = document;
                position_ends[posting] = ++cursor.positions;
            }
            lengths[document] = length;
        });
    });
}

}  // namespace rankwright
