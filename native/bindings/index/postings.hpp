// The postings of a field, as an object of Python that keeps their arrays; each term is checked when first used.
#pragma once
#include <atomic>
#include <memory>

#include "bindings/arguments/arrays.hpp"
#include "index/postings.hpp"

namespace rankwright::bindings {

class BoundPostings {
  public:
    BoundPostings(Array<std::uint64_t> posting_places, Array<std::uint64_t> position_places,
                  Array<std::uint64_t> block_places, Array<std::uint32_t> documents,
                  Array<std::uint32_t> position_ends, Array<std::uint32_t> positions,
                  Array<std::uint32_t> block_ends, Array<std::uint64_t> impact_places,
                  Matrix<std::uint32_t> impacts, Array<std::uint32_t> lengths, Array<std::uint32_t> shortest)
        : arrays_{posting_places, position_places, block_places, documents, position_ends, positions,
                  block_ends,     impact_places,   impacts,      lengths,   shortest},
          field_{view(posting_places),
                 view(position_places),
                 view(block_places),
                 view(documents),
                 view(position_ends),
                 view(positions),
                 view(block_ends),
                 view(impact_places),
                 {reinterpret_cast<const Impact*>(impacts.data()), impacts.shape(0)},
                 view(lengths),
                 view(shortest)} {
        const std::size_t n_places = posting_places.size();
        require(n_places >= 1 && position_places.size() == n_places && block_places.size() == n_places,
                "there must be one more place than terms");
        require(impact_places.size() >= 1 && impacts.shape(1) == 2,
                "impacts must have two columns, and one more place than blocks");
        require(block_ends.size() == impact_places.size() - 1, "there must be one last document per block");
        require(position_ends.size() == documents.size(), "there must be one position end per posting");
        require(shortest.size() == (lengths.size() + kWindow - 1) / kWindow,
                "shortest must have one length per window");
        sound_ = std::make_unique<std::atomic<bool>[]>(n_places);
    }

    // Before any other use of a term.
    void check(std::size_t term) const {
        require(term < field_.n_terms(), "there is no such term");
        if (sound_[term].load(std::memory_order_relaxed)) return;
        require(is_sound(field_, term), "the index is damaged: the postings of a term are out of range");
        sound_[term].store(true, std::memory_order_relaxed);
    }
    const FieldPostings& field() const { return field_; }

  private:
    struct Arrays {
        Array<std::uint64_t> posting_places, position_places, block_places;
        Array<std::uint32_t> documents, position_ends, positions, block_ends;
        Array<std::uint64_t> impact_places;
        Matrix<std::uint32_t> impacts;
        Array<std::uint32_t> lengths, shortest;
    } arrays_;
    FieldPostings field_;
    std::unique_ptr<std::atomic<bool>[]> sound_;
};

}  // namespace rankwright::bindings
