// Where the rows of a tree's leaves are: in memory, in a mapped file that is read in blocks, or with workers.
//
// The grower uses only sums and numbers of rows. It asks for them leaf by leaf, or for many leaves at once where
// each request has a price of its own: a pass over a file, or a round trip to other machines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "histograms/histogram.hpp"
#include "histograms/sampling.hpp"
#include "trees/category_order.hpp"
#include "trees/tree_shape.hpp"

namespace rankwright {

using RowList = std::span<std::uint32_t>;
using CodeCounts = std::vector<std::int64_t>;  // number of documents by code; empty: not counted

struct SplitSides {
    std::int64_t left = 0, right = 0;
};
SplitSides sides(const CodeCounts& counts, const CodeSplit& split);

// Sums of single features, for the search of one leaf.
struct LeafScratch {
    std::vector<Packed> levels, codes;
};

// Buffers of one thread for dividing leaves and searching their children.
struct GrowthScratch {
    std::vector<LeafScratch> leaves;
    std::vector<std::uint32_t> buffer;
};

// Memory that is reused from tree to tree; one tree may use it at a time.
struct GrowthWorkspace {
    Quantised quantised, all_quantised;  // of the sample, and of all rows
    WideRows wide;                       // several integers per row
    std::vector<std::uint32_t> sample, rest, leaf_of_row;
    std::vector<double> gradient, hessian, outputs;  // of a round; one per row
    std::vector<std::uint32_t> drawn;                // rows, and their weights, each with room for all
    std::vector<double> drawn_weights;
    SampleGains sample_gains;  // of the last tree
    HistogramPool histograms;
    OrderedCategories categories;
    std::vector<GrowthScratch> scratch;  // one per thread
    std::size_t bytes_read = 0;          // of codes, by all trees, where they are read in blocks
};

struct Worker {
    GrowthScratch& scratch;
    int n_threads;
};

struct LeafRows {
    std::uint32_t id = 0;                  // within the tree; the root has 0
    std::size_t n_sample = 0, n_rest = 0;  // rows that splits are chosen on, and the others
    RowList sample, rest;                  // the rows themselves, where this process has them

    std::size_t size() const { return n_sample + n_rest; }
};

// A leaf to be divided. The store sets everything below `histogram`.
struct Division {
    const LeafRows* parent;
    CodeSplit split;
    bool left_is_lighter;     // by hessian: a guess at which child is smaller
    std::int64_t* histogram;  // overwritten with the sums of one child's sample; null: not needed
    LeafRows left{}, right{};
    bool left_is_summed = true;
};

// Sums by code over the rows that judge splits, 256 per feature, and features whose documents will be counted.
struct CodeRequest {
    const LeafRows* rows;
    std::vector<std::uint32_t> features, counted;
    Packed* sums = nullptr;
};

class RowStore {
  public:
    virtual ~RowStore() = default;

    // Whether one request for many leaves costs less than one for each.
    virtual bool takes_batches() const = 0;
    // The rows of the root; its sums go to the histogram unless that is null.
    virtual LeafRows root(std::int64_t* histogram, Worker& worker) = 0;
    virtual void divide(std::span<Division> divisions, Worker& worker) = 0;
    virtual void sum_codes(std::span<const CodeRequest> requests, Worker& worker) = 0;
    // Documents that judge splits, by code of a feature.
    virtual CodeCounts count(const LeafRows& rows, std::size_t feature) = 0;
    // Whether any of these documents has no value of a feature.
    virtual bool any_missing(const LeafRows& rows, std::size_t feature);
    // Whether a split leaves so many of these documents on both sides.
    virtual bool leaves_enough(const LeafRows& rows, const CodeSplit& split, std::int64_t least);
};

// Rows whose codes are in this process: in memory or mapped.
class LocalRows : public RowStore {
  public:
    using Fill = std::function<void(RowList rows, int n_threads, std::int64_t* histogram)>;

    // `fill` overwrites a histogram of this layout. `numbers` are those of `sum_codes`; `all_rows_judge` says
    // whether rows outside the sample judge splits too. The root's rows are the sample, ascending, and all others.
    LocalRows(const BinnedMatrix& binned, std::span<const std::uint32_t> sample, const HistogramLayout& layout,
              Fill fill, const Quantised& numbers, bool all_rows_judge, GrowthWorkspace& space);

    bool takes_batches() const override { return binned_.block_rows > 0; }
    LeafRows root(std::int64_t* histogram, Worker& worker) override;
    void divide(std::span<Division> divisions, Worker& worker) override;
    // Sums the left child if `left_is_lighter`, and else the right one, whichever is smaller.
    void divide_as_asked(std::span<Division> divisions, Worker& worker);
    void sum_codes(std::span<const CodeRequest> requests, Worker& worker) override;
    CodeCounts count(const LeafRows& rows, std::size_t feature) override;
    // The same, of at most so many documents of the sample, and of the rest.
    CodeCounts count_some(const LeafRows& rows, std::size_t feature, std::size_t most);
    bool any_missing(const LeafRows& rows, std::size_t feature) override;
    bool leaves_enough(const LeafRows& rows, const CodeSplit& split, std::int64_t least) override;

  private:
    struct Sum {
        RowList rows;
        std::int64_t* histogram;
    };

    void divide_rows(Division& division, Worker& worker);
    void sum_children(std::span<const Division> divisions, int n_threads);
    void fill(std::span<const Sum> sums, int n_threads);
    void fill_by_blocks(std::span<const Sum> sums, int n_threads);
    void sum_codes_of(const CodeRequest& request, std::size_t first, std::size_t last, int n_threads);
    void fetch_ahead(std::span<const std::uint32_t> features, std::size_t current);
    void fetch_column(std::size_t feature);

    const BinnedMatrix& binned_;
    const HistogramLayout& layout_;
    const Fill fill_;
    const Quantised& numbers_;
    const bool all_rows_judge_;
    GrowthWorkspace& space_;
};

// With fewer rows, waking another thread costs more than it saves.
constexpr std::size_t kRowsPerThread = 50'000;
// The same for dividing the next leaves ahead: each thread has a leaf of its own, and no sums of threads are added
// up.
constexpr std::size_t kRowsToDivideAhead = 10'000;

}  // namespace rankwright
