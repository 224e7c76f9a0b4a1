#include "index/words.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/arguments/guarded.hpp"
#include "bindings/index/strings.hpp"
#include "bindings/readers/bytes.hpp"
#include "index/inversion.hpp"

namespace rankwright::bindings {
namespace {

using GuardedDocuments = Guarded<WordedDocuments>;
constexpr std::size_t kMostWords = 0xFFFFFFFE;

// Tables that have been checked, and their arrays.
struct BoundCharacters {
    BoundCharacters(Array<std::uint8_t> kinds, Array<std::uint32_t> mapped)
        : kinds_(kinds), mapped_(mapped), table{view(kinds), view(mapped)} {
        require(kinds.size() == mapped.size(), "kinds and mapped must have the same size");
        for (std::size_t code = 0; code < kinds.size(); ++code) {
            const bool is_ascii = code < 128;
            const std::uint32_t kind = table.kinds[code], character = table.mapped[code];
            require(kind <= (is_ascii ? 1u : 2u), "a kind is out of range");
            require(is_ascii ? character < 128 && (kind == 0 || character > 0) : character <= 0x10FFFF,
                    "a character is mapped out of range");
        }
    }

  private:
    Array<std::uint8_t> kinds_;
    Array<std::uint32_t> mapped_;

  public:
    CharacterTable table;
};

// The words of each text; empty ones stand for words that are too long.
nb::list words_of(nb::list given, const BoundCharacters& characters) {
    WordReader reader(characters.table);
    const Strings texts(given);
    nb::list result;
    for (const std::string_view text : texts.views()) {
        nb::list words;
        reader.read(text, [&](std::string_view word) { words.append(to_str(word)); });
        result.append(words);
    }
    return result;
}

void add_texts(GuardedDocuments& documents, nb::list given, const BoundCharacters& characters, int n_threads) {
    const auto turn = take_turn(documents);
    const Strings texts(given);
    std::size_t size = documents.n_words();
    for (const std::string_view text : texts.views()) size += text.size();
    require(size <= kMostWords, "there are too many words for one part");
    nb::gil_scoped_release release;
    documents.add_texts(texts.views(), characters.table, n_threads);
}

void add_words(GuardedDocuments& documents, nb::list given) {
    const auto turn = take_turn(documents);
    for (nb::handle words : given) {
        const Strings texts(words);
        require(documents.n_words() + texts.views().size() <= kMostWords, "there are too many words for one part");
        documents.add_words(texts.views());
    }
}

nb::list vocabulary(const GuardedDocuments& documents) {
    const auto turn = take_turn(documents);
    nb::list words;
    for (std::size_t i = 0; i < documents.vocabulary().size(); ++i)
        words.append(nb::steal<nb::str>(
            PyUnicode_DecodeUTF8(documents.vocabulary().word(i).data(),
                                 static_cast<Py_ssize_t>(documents.vocabulary().word(i).size()), "replace")));
    return words;
}

// Terms of the words, None for removed ones. The first word, which stands for words that are too long, is removed.
SortedTerms sorted_terms(const Strings& texts, nb::list given) {
    std::vector<std::optional<std::string_view>> terms;
    std::size_t next = 0;
    for (nb::handle term : given)
        terms.push_back(term.is_none() ? std::nullopt : std::optional(texts.views()[next++]));
    terms[0].reset();
    return sort_terms(terms);
}

nb::dict invert(const GuardedDocuments& documents, nb::list terms, int n_threads) {
    const auto turn = take_turn(documents);
    require(terms.size() == documents.vocabulary().size(), "there must be one term per word of the vocabulary");
    nb::list present;
    for (nb::handle term : terms)
        if (!term.is_none()) present.append(term);
    const Strings texts(present);
    const SortedTerms sorted = sorted_terms(texts, terms);
    nb::gil_scoped_release release;
    Inversion inversion(documents, sorted.term_of, sorted.terms.size(), n_threads);
    Output<std::uint32_t> numbers(inversion.posting_places().back()), ends(inversion.posting_places().back());
    Output<std::uint32_t> positions(inversion.position_places().back()), lengths(documents.n_documents());
    inversion.fill(numbers.span(), ends.span(), positions.span(), lengths.span());
    nb::gil_scoped_acquire acquire;
    nb::dict arrays;
    arrays["terms"] = to_arrays(sorted.terms);
    arrays["posting_places"] = to_numpy(inversion.posting_places());
    arrays["position_places"] = to_numpy(inversion.position_places());
    arrays["documents"] = numbers.numpy();
    arrays["position_ends"] = ends.numpy();
    arrays["positions"] = positions.numpy();
    arrays["lengths"] = lengths.numpy();
    return arrays;
}

}  // namespace

void bind_words(nb::module_& m) {
    nb::class_<BoundCharacters>(m, "Characters")
        .def(nb::init<Array<std::uint8_t>, Array<std::uint32_t>>(), nb::arg("kinds"), nb::arg("mapped"));
    m.def("words_of", &words_of, nb::arg("texts"), nb::arg("characters"));
    nb::class_<GuardedDocuments>(m, "WordedDocuments")
        .def(nb::init<>())
        .def("add_texts", &add_texts, nb::arg("texts"), nb::arg("characters"), nb::arg("n_threads"))
        .def("add_words", &add_words, nb::arg("documents"))
        .def("vocabulary", &vocabulary)
        .def("invert", &invert, nb::arg("terms"), nb::arg("n_threads"))
        .def_prop_ro("n_documents", locked(&WordedDocuments::n_documents))
        .def_prop_ro("n_words", locked(&WordedDocuments::n_words));
}

}  // namespace rankwright::bindings
