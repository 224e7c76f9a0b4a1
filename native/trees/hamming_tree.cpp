#include "trees/hamming_tree.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rankwright {
namespace {

class VoteStatistic {
  public:
    using Sums = VoteSums;
    struct Inherited {
        Votes votes;
        bool is_root = false;
    };
    struct Split {
        VoteSum gain = 0;  // of the edge, over that of the leaf's votes
        Stump stump;
    };

    explicit VoteStatistic(const StumpFinder& finder) : finder_(finder) {}

    const HistogramLayout& layout() const { return finder_.layout(); }
    VoteSums total(const VoteSum* histogram) const { return finder_.total_of_histogram(histogram); }

    void subtract(const VoteSums& part, VoteSums& whole) const {
        for (std::size_t k = 0; k < whole.size(); ++k) whole[k] -= part[k];
    }

    // The root counts as having no edge yet: it may split even if its constant votes are as good.
    void search(std::span<Leaf<VoteStatistic>* const> leaves, RowStore&, Worker& worker) const {
        for (Leaf<VoteStatistic>* leaf : leaves) {
            Stump best = finder_.best(leaf->histogram.get(), leaf->sums, worker.n_threads);
            if (best.code < 0) continue;
            const VoteSum edge = leaf->inherited.is_root ? 0 : edge_of(leaf->sums, leaf->inherited.votes);
            leaf->best = {best.edge - edge, std::move(best)};
        }
    }

    bool left_is_lighter(const Leaf<VoteStatistic>&) const { return true; }  // its rows are always in this process

    bool allows(const Split& split) const { return split.gain > 0; }
    double reported_gain(const Split& split) const { return static_cast<double>(split.gain) * finder_.step(); }
    const CodeSplit& code_split(const Split& split) const { return split.stump; }

    void pass_down(const Leaf<VoteStatistic>& parent, Leaf<VoteStatistic>& left,
                   Leaf<VoteStatistic>& right) const {
        left.inherited.votes = parent.best.stump.left;
        right.inherited.votes = parent.best.stump.right;
    }

  private:
    const StumpFinder& finder_;
};

}  // namespace

VoteTree grow_hamming_tree(const BinnedMatrix& binned, const VoteTask& task, std::int32_t max_leaves,
                           int n_threads, GrowthWorkspace& space, std::span<double> votes_of_rows) {
    const StumpFinder finder(binned, task, space);
    const VoteStatistic statistic(finder);
    std::vector<std::uint32_t> all_rows(binned.n_rows);
    std::iota(all_rows.begin(), all_rows.end(), std::uint32_t{0});
    VoteTree tree;
    const auto fill = [&](RowList rows, int threads, VoteSum* histogram) {
        finder.fill(rows, threads, histogram);
    };
    LocalRows rows(binned, all_rows, finder.layout(), fill, space.quantised, false, space);
    const auto leaves = Grower(binned, statistic, rows, max_leaves, n_threads, space)
                            .grow({best_constant(finder.total_of_rows()), true}, tree);
    for (const Leaf<VoteStatistic>& leaf : leaves) {
        const Votes& votes = leaf.inherited.votes;
        tree.votes.insert(tree.votes.end(), votes.begin(), votes.end());
        for (std::size_t k = 0; k < votes.size(); ++k)
            for (const std::uint32_t row : leaf.rows.sample) votes_of_rows[k * binned.n_rows + row] = votes[k];
    }
    return tree;
}

}  // namespace rankwright
