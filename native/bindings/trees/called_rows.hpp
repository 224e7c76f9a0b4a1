// Rows of a tree behind a Python object.
#pragma once
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "bindings/arguments/arrays.hpp"
#include "trees/gradient_tree.hpp"

namespace rankwright::bindings {

// One row per division: parent, left, right, feature, code, missing_left, and the side to sum: 0 none, 1 left, 2
// right.
constexpr std::size_t kDivisionColumns = 7;

// A worker counts so many documents of a leaf for each that must be on both sides of a split.
constexpr std::size_t kCountedPerDocument = 64;

// Rows behind a Python object with the methods root, divide, sum_codes and sum_leaves, which sum over all parts.
class CalledRows : public RemoteRows {
  public:
    CalledRows(const BinnedMatrix& binned, nb::object parts, std::size_t n_sample, std::size_t n_rest,
               std::size_t histogram_size, std::size_t n_counted, bool all_rows_judge)
        : binned_(binned),
          parts_(std::move(parts)),
          n_sample_(n_sample),
          n_rest_(n_rest),
          histogram_size_(histogram_size),
          n_counted_(n_counted),
          all_rows_judge_(all_rows_judge) {}

    bool takes_batches() const override { return true; }

    LeafRows root(std::int64_t* histogram, Worker&) override {
        if (histogram) {
            nb::gil_scoped_acquire acquire;
            const auto sums = nb::cast<Array<std::int64_t>>(parts_.attr("root")());
            require(sums.size() == histogram_size_, "histograms have another size");
            std::copy_n(sums.data(), histogram_size_, histogram);
        }
        return {0, n_sample_, n_rest_, {}, {}};
    }

    void divide(std::span<Division> divisions, Worker&) override {
        nb::gil_scoped_acquire acquire;
        Output<std::int64_t, 2> rows({divisions.size(), kDivisionColumns});
        std::int64_t* row = rows.span().data();
        for (Division& division : divisions) {
            division.left_is_summed = left_is_smaller(division);
            for (const std::int64_t number :
                 {static_cast<std::int64_t>(division.parent->id), static_cast<std::int64_t>(division.left.id),
                  static_cast<std::int64_t>(division.right.id), static_cast<std::int64_t>(division.split.feature),
                  static_cast<std::int64_t>(division.split.code),
                  static_cast<std::int64_t>(division.split.missing_left),
                  static_cast<std::int64_t>(!division.histogram       ? 0
                                            : division.left_is_summed ? 1
                                                                      : 2)})
                *row++ = number;
        }
        const auto answer =
            nb::cast<std::pair<Matrix<std::int64_t>, Matrix<std::int64_t>>>(parts_.attr("divide")(rows.numpy()));
        require(answer.first.size() == 2 * divisions.size(), "there must be two sizes per division");
        std::size_t n_summed = 0;
        for (std::size_t i = 0; i < divisions.size(); ++i) {
            Division& division = divisions[i];
            division.left.n_sample = static_cast<std::size_t>(answer.first.data()[2 * i]);
            division.left.n_rest = static_cast<std::size_t>(answer.first.data()[2 * i + 1]);
            division.right.n_sample = division.parent->n_sample - division.left.n_sample;
            division.right.n_rest = division.parent->n_rest - division.left.n_rest;
            if (division.histogram) {
                require(n_summed < answer.second.shape(0) && answer.second.shape(1) == histogram_size_,
                        "histograms have another size");
                std::copy_n(answer.second.data() + n_summed++ * histogram_size_, histogram_size_,
                            division.histogram);
            }
        }
    }

    void sum_codes(std::span<const CodeRequest> requests, Worker&) override {
        std::vector<std::uint32_t> leaves, features;
        for (const CodeRequest& request : requests) {
            std::vector<std::uint32_t> wanted = request.features;
            for (const std::uint32_t feature : request.counted)
                if (std::ranges::find(wanted, feature) == wanted.end()) wanted.push_back(feature);
            leaves.insert(leaves.end(), wanted.size(), request.rows->id);
            features.insert(features.end(), wanted.begin(), wanted.end());
        }
        nb::gil_scoped_acquire acquire;
        const auto [sums, counts] = asked(leaves, features, n_counted_);
        std::size_t i = 0;
        for (const CodeRequest& request : requests) {
            std::copy_n(sums.data() + i * kCodes, request.features.size() * kCodes, request.sums);
            while (i < leaves.size() && leaves[i] == request.rows->id) ++i;
        }
        for (i = 0; i < leaves.size(); ++i) keep(leaves[i], features[i], counts.data() + i * kCodes);
    }

    CodeCounts count(const LeafRows& rows, std::size_t feature) override {
        const CodeCounts& known = known_counts(rows, feature);
        const std::size_t n_rows = all_rows_judge_ ? rows.size() : rows.n_sample;
        const bool has_all = std::reduce(known.begin(), known.end()) == static_cast<std::int64_t>(n_rows);
        if (has_all && !known.empty()) return known;
        nb::gil_scoped_acquire acquire;
        const auto number = static_cast<std::uint32_t>(feature);
        keep(rows.id, number, asked({rows.id}, {number}, n_rows).second.data());
        return known;
    }

    bool any_missing(const LeafRows& rows, std::size_t feature) override {
        return (!binned_.coarse || binned_.levels[feature].any_missing) && RowStore::any_missing(rows, feature);
    }

    // Counts of some documents often suffice.
    bool leaves_enough(const LeafRows& rows, const CodeSplit& split, std::int64_t least) override {
        const auto [left, right] = sides(known_counts(rows, split.feature), split);
        return std::min(left, right) >= least || RowStore::leaves_enough(rows, split, least);
    }

    void sum_leaves(std::span<const std::uint32_t> leaves, std::vector<double>& gradients,
                    std::vector<double>& hessians) override {
        nb::gil_scoped_acquire acquire;
        const auto answer =
            nb::cast<std::pair<Matrix<double>, Matrix<double>>>(parts_.attr("sum_leaves")(to_numpy(leaves)));
        require(answer.first.shape(1) == leaves.size() && answer.second.size() == answer.first.size(),
                "there must be one sum per leaf");
        gradients.assign(answer.first.data(), answer.first.data() + answer.first.size());
        hessians.assign(answer.second.data(), answer.second.data() + answer.second.size());
    }

  private:
    // As far as the documents tell that were counted, or hessians.
    bool left_is_smaller(const Division& division) {
        const auto [n_left, n_right] =
            sides(known_counts(*division.parent, division.split.feature), division.split);
        return n_left + n_right > 0 ? n_left <= n_right : division.left_is_lighter;
    }

    using CodeAnswer = std::pair<Matrix<std::int64_t>, Matrix<std::int64_t>>;

    CodeAnswer asked(const std::vector<std::uint32_t>& leaves, const std::vector<std::uint32_t>& features,
                     std::size_t n_counted) {
        auto answer =
            nb::cast<CodeAnswer>(parts_.attr("sum_codes")(to_numpy(leaves), to_numpy(features), n_counted));
        for (const auto& numbers : {answer.first, answer.second})
            require(numbers.shape(0) == leaves.size() && numbers.shape(1) == kCodes, "codes have another size");
        return answer;
    }

    void keep(std::uint32_t leaf, std::uint32_t feature, const std::int64_t* counts) {
        counts_[{leaf, feature}] = CodeCounts(counts, counts + kCodes);
    }

    // Of all or some documents of a leaf; empty: of none.
    const CodeCounts& known_counts(const LeafRows& rows, std::size_t feature) {
        return counts_[{rows.id, static_cast<std::uint32_t>(feature)}];
    }

    const BinnedMatrix& binned_;
    const nb::object parts_;
    const std::size_t n_sample_, n_rest_, histogram_size_, n_counted_;
    const bool all_rows_judge_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, CodeCounts> counts_;
};

}  // namespace rankwright::bindings
