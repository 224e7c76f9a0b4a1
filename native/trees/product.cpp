#include "trees/product.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rankwright {
namespace {

// Which values of a feature can still arrive at a cell of a product.
struct Arrivals {
    int lowest = 0, highest = kMissing - 1;
    bool missing = true;
};

class ProductFitter {
  public:
    ProductFitter(const BinnedMatrix& binned, const VoteTask& task, std::int32_t max_terms, int n_threads,
                  GrowthWorkspace& space)
        : binned_(binned),
          n_classes_(task.n_classes),
          n_threads_(n_threads),
          space_(space),
          finder_(binned, task, space),
          terms_(static_cast<std::size_t>(max_terms), constant(Votes(task.n_classes, 1))) {}

    VoteTree fit(std::span<double> votes_of_rows) {
        fit_terms();
        drop_constants();
        std::vector<Arrivals> arrivals(binned_.n_features);
        add_cell(0, {}, constants_, arrivals);
        collect_votes(votes_of_rows);
        return std::move(tree_);
    }

  private:
    void fit_terms() {
        space_.sample.resize(binned_.n_rows);
        std::iota(space_.sample.begin(), space_.sample.end(), std::uint32_t{0});
        space_.histograms.resize(finder_.layout().size());
        Histogram histogram = space_.histograms.take();
        std::size_t settled = 0;  // terms in a row that could not be improved
        for (std::size_t term = 0; settled < terms_.size(); term = (term + 1) % terms_.size())
            settled = refit(term, histogram.get()) ? 1 : settled + 1;
        space_.histograms.release(std::move(histogram));
    }

    static Stump constant(Votes votes) {
        Stump stump;
        stump.left = stump.right = std::move(votes);
        return stump;
    }

    // Fits a term to the signed weights times the other terms' votes; returns whether the edge has grown. The
    // weights are kept multiplied by all terms.
    bool refit(std::size_t index, VoteSum* histogram) {
        multiply(terms_[index]);
        finder_.fill(space_.sample, n_threads_, histogram);
        const VoteSums total = finder_.total_of_histogram(histogram);
        Stump best = constant(best_constant(total));
        best.edge = edge_of(total, best.left);
        if (Stump stump = finder_.best(histogram, total, n_threads_); stump.edge > best.edge)
            best = std::move(stump);
        const bool better = best.edge > edge_;
        if (better) {
            edge_ = best.edge;
            terms_[index] = std::move(best);
        }
        multiply(terms_[index]);
        return better;
    }

    void multiply(const Stump& stump) {
        const std::uint8_t* codes = binned_.column(stump.feature);
        for (std::size_t row = 0; row < binned_.n_rows; ++row) {
            const Votes& votes = stump.sends_left(codes[row]) ? stump.left : stump.right;
            VoteSum* weights = space_.wide.row(row);
            for (std::size_t k = 0; k < n_classes_; ++k) weights[k] *= votes[k];
        }
    }

    void drop_constants() {
        constants_.assign(n_classes_, 1);
        for (const Stump& term : terms_)
            if (term.code < 0) constants_ = product(constants_, term.left);
        std::erase_if(terms_, [](const Stump& term) { return term.code < 0; });
        gain_ = static_cast<double>(edge_) * finder_.step() /
                static_cast<double>(std::max<std::size_t>(1, terms_.size()));
    }

    static Votes product(const Votes& a, const Votes& b) {
        Votes both(a.size());
        for (std::size_t k = 0; k < a.size(); ++k) both[k] = static_cast<std::int8_t>(a[k] * b[k]);
        return both;
    }

    // Adds the cells that the terms from `index` on divide this one into; a term that sends all values to one side
    // is skipped. The edge is divided evenly among the terms as their gain; the first split of a term gets its
    // gain.
    void add_cell(std::size_t index, const ParentLink& parent, const Votes& votes,
                  std::vector<Arrivals>& arrivals) {
        if (index == terms_.size()) return add_cell_leaf(parent, votes);
        const Stump& term = terms_[index];
        Arrivals& range = arrivals[term.feature];
        const bool any_left = range.lowest <= term.code || (range.missing && term.missing_left);
        const bool any_right = range.highest > term.code || (range.missing && !term.missing_left);
        if (!any_left || !any_right) {
            add_cell(index + 1, parent, product(votes, any_left ? term.left : term.right), arrivals);
            return;
        }
        const std::int32_t node = add_split(parent, binned_, term, index < counted_ ? 0.0 : gain_, tree_);
        term_of_split_.push_back(index);
        counted_ = std::max(counted_, index + 1);
        const Arrivals before = range;
        range = {before.lowest, std::min(before.highest, term.code), before.missing && term.missing_left};
        add_cell(index + 1, {node, true}, product(votes, term.left), arrivals);
        range = {std::max(before.lowest, term.code + 1), before.highest, before.missing && !term.missing_left};
        add_cell(index + 1, {node, false}, product(votes, term.right), arrivals);
        range = before;
    }

    void add_cell_leaf(const ParentLink& parent, const Votes& votes) {
        add_leaf(parent, 0.0, tree_);
        tree_.votes.insert(tree_.votes.end(), votes.begin(), votes.end());
    }

    void collect_votes(std::span<double> votes_of_rows) {
        for (std::size_t row = 0; row < binned_.n_rows; ++row) {
            const std::size_t leaf = leaf_of(row);
            tree_.cover[leaf] += 1.0;
            for (std::size_t k = 0; k < n_classes_; ++k)
                votes_of_rows[k * binned_.n_rows + row] = tree_.votes[leaf * n_classes_ + k];
        }
    }

    std::size_t leaf_of(std::size_t row) const {
        std::int32_t node = tree_.feature.empty() ? -1 : 0;
        while (node >= 0) {
            const auto split = static_cast<std::size_t>(node);
            const Stump& term = terms_[term_of_split_[split]];
            node = term.sends_left(binned_.column(term.feature)[row]) ? tree_.left[split] : tree_.right[split];
        }
        return static_cast<std::size_t>(-1 - node);
    }

    const BinnedMatrix& binned_;
    const std::size_t n_classes_;
    const int n_threads_;
    GrowthWorkspace& space_;
    StumpFinder finder_;
    std::vector<Stump> terms_;
    Votes constants_;
    VoteSum edge_ = 0;
    double gain_ = 0.0;
    std::size_t counted_ = 0;  // terms whose gain some split has
    std::vector<std::size_t> term_of_split_;
    VoteTree tree_;
};

}  // namespace

VoteTree fit_product(const BinnedMatrix& binned, const VoteTask& task, std::int32_t max_terms, int n_threads,
                     GrowthWorkspace& workspace, std::span<double> votes_of_rows) {
    return ProductFitter(binned, task, max_terms, n_threads, workspace).fit(votes_of_rows);
}

}  // namespace rankwright
