#include "trees/row_store.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/mapped_pages.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kCountedRows = 64;
constexpr std::size_t kFasterByColumn = 16;  // so many codes of a column are searched while one row is followed

// Alternates between two arrays: neighbouring rows often have the same code, and an increment of a counter waits
// for the one before it.
void count_codes(const std::uint8_t* codes, RowList rows, CodeCounts& counts) {
    CodeCounts others(kCodes);
    for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
        ++counts[codes[rows[i]]];
        ++others[codes[rows[i + 1]]];
    }
    if (rows.size() % 2) ++counts[codes[rows.back()]];
    for (std::size_t code = 0; code < kCodes; ++code) counts[code] += others[code];
}

int threads_for(const LeafRows& rows, const Worker& worker) {
    return rows.size() >= kRowsPerThread ? worker.n_threads : 1;
}

}  // namespace

SplitSides sides(const CodeCounts& counts, const CodeSplit& split) {
    SplitSides n;
    for (std::size_t code = 0; code < counts.size(); ++code)
        (split.sends_left(static_cast<std::uint8_t>(code)) ? n.left : n.right) += counts[code];
    return n;
}

bool RowStore::any_missing(const LeafRows& rows, std::size_t feature) {
    return count(rows, feature)[kMissing] > 0;
}

bool RowStore::leaves_enough(const LeafRows& rows, const CodeSplit& split, std::int64_t least) {
    const auto [left, right] = sides(count(rows, split.feature), split);
    return std::min(left, right) >= least;
}

LocalRows::LocalRows(const BinnedMatrix& binned, std::span<const std::uint32_t> sample,
                     const HistogramLayout& layout, Fill fill, const Quantised& numbers, bool all_rows_judge,
                     GrowthWorkspace& space)
    : binned_(binned),
      layout_(layout),
      fill_(std::move(fill)),
      numbers_(numbers),
      all_rows_judge_(all_rows_judge),
      space_(space) {
    space.sample.assign(sample.begin(), sample.end());
    leave_out(sample, binned.n_rows, space.rest);
}

LeafRows LocalRows::root(std::int64_t* histogram, Worker& worker) {
    const LeafRows rows{0, space_.sample.size(), space_.rest.size(), space_.sample, space_.rest};
    const Sum sum{rows.sample, histogram};
    if (histogram) fill({&sum, 1}, worker.n_threads);
    return rows;
}

void LocalRows::divide(std::span<Division> divisions, Worker& worker) {
    std::vector<std::uint32_t> features;
    for (const Division& division : divisions) features.push_back(division.split.feature);
    for (std::size_t i = 0; i < divisions.size(); ++i) {
        Division& division = divisions[i];
        fetch_ahead(features, i);
        divide_rows(division, worker);
        division.left_is_summed = division.left.n_sample <= division.right.n_sample;
    }
    sum_children(divisions, worker.n_threads);
}

void LocalRows::divide_as_asked(std::span<Division> divisions, Worker& worker) {
    for (Division& division : divisions) {
        divide_rows(division, worker);
        division.left_is_summed = division.left_is_lighter;
    }
    sum_children(divisions, worker.n_threads);
}

void LocalRows::sum_children(std::span<const Division> divisions, int n_threads) {
    std::vector<Sum> sums;
    for (const Division& division : divisions)
        if (division.histogram)
            sums.push_back(
                {division.left_is_summed ? division.left.sample : division.right.sample, division.histogram});
    fill(sums, n_threads);
}

void LocalRows::divide_rows(Division& division, Worker& worker) {
    fetch_column(division.split.feature);
    const LeafRows& parent = *division.parent;
    std::vector<std::uint32_t>& buffer = worker.scratch.buffer;
    buffer.resize(std::max({buffer.size(), parent.n_sample, parent.n_rest}));
    const auto part = [&](RowList rows, RowList LeafRows::* list, std::size_t LeafRows::* size) {
        const std::size_t n_left = rankwright::divide(binned_, division.split, rows, worker.n_threads, buffer);
        division.left.*list = rows.first(n_left);
        division.right.*list = rows.subspan(n_left);
        division.left.*size = n_left;
        division.right.*size = rows.size() - n_left;
    };
    part(parent.sample, &LeafRows::sample, &LeafRows::n_sample);
    part(parent.rest, &LeafRows::rest, &LeafRows::n_rest);
}

void LocalRows::fill(std::span<const Sum> sums, int n_threads) {
    if (takes_batches()) return fill_by_blocks(sums, n_threads);
    for (const Sum& sum : sums) fill_(sum.rows, n_threads, sum.histogram);
}

// One pass over the file for all leaves. Rows of a leaf ascend, so those of a block are adjacent in its list.
void LocalRows::fill_by_blocks(std::span<const Sum> sums, int n_threads) {
    const std::size_t block = binned_.block_rows, n_rows = binned_.n_rows;
    const auto bytes = [&](std::size_t first) { return std::min(block, n_rows - first) * binned_.n_bytes; };
    std::vector<std::size_t> done(sums.size());
    Histogram part = space_.histograms.take();
    fetch_pages(binned_.row(0), bytes(0));
    for (std::size_t first = 0; first < n_rows; first += block) {
        if (first + block < n_rows) fetch_pages(binned_.row(first + block), bytes(first + block));
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const RowList left = sums[i].rows.subspan(done[i]);
            const auto end = std::ranges::lower_bound(left, first + block);
            const RowList rows = left.first(static_cast<std::size_t>(end - left.begin()));
            if (first > 0 && rows.empty()) continue;
            fill_(rows, n_threads, first == 0 ? sums[i].histogram : part.get());
            if (first > 0) layout_.add(0, layout_.n_used.size(), part.get(), sums[i].histogram);
            done[i] += rows.size();
        }
        release_pages(binned_.row(first), bytes(first));
        space_.bytes_read += bytes(first);
    }
    space_.histograms.release(std::move(part));
}

// A column at a time for all leaves: where it is read from a file, it is read once.
void LocalRows::sum_codes(std::span<const CodeRequest> requests, Worker& worker) {
    for (const CodeRequest& request : requests)
        std::fill_n(request.sums, request.features.size() * kCodes, Packed{0});
    if (!takes_batches()) {
        for (const CodeRequest& request : requests)
            sum_codes_of(request, 0, request.features.size(), threads_for(*request.rows, worker));
        return;
    }
    std::vector<std::uint32_t> features;
    for (const CodeRequest& request : requests)
        features.insert(features.end(), request.features.begin(), request.features.end());
    std::ranges::sort(features);
    features.erase(std::unique(features.begin(), features.end()), features.end());
    for (std::size_t i = 0; i < features.size(); ++i) {
        fetch_ahead(features, i);
        space_.bytes_read += binned_.n_rows;
        parallel_for(requests.size(), worker.n_threads, [&](std::size_t request) {
            const auto& listed = requests[request].features;
            const auto position =
                static_cast<std::size_t>(std::ranges::find(listed, features[i]) - listed.begin());
            if (position < listed.size()) sum_codes_of(requests[request], position, position + 1, 1);
        });
        release_pages(binned_.column(features[i]), binned_.n_rows);
    }
}

void LocalRows::sum_codes_of(const CodeRequest& request, std::size_t first, std::size_t last, int n_threads) {
    if (first == last) return;
    const auto features = std::span(request.features).subspan(first, last - first);
    const std::span<Packed> sums(request.sums + first * kCodes, features.size() * kCodes);
    add_codes(binned_, request.rows->sample, numbers_, features, n_threads, sums);
    if (all_rows_judge_) add_codes(binned_, request.rows->rest, numbers_, features, n_threads, sums);
}

CodeCounts LocalRows::count(const LeafRows& rows, std::size_t feature) {
    return count_some(rows, feature, rows.size());
}

CodeCounts LocalRows::count_some(const LeafRows& rows, std::size_t feature, std::size_t most) {
    fetch_column(feature);
    CodeCounts counts(kCodes);
    const auto count = [&](RowList list) {
        count_codes(binned_.column(feature), list.first(std::min(most, list.size())), counts);
    };
    count(rows.sample);
    if (all_rows_judge_) count(rows.rest);
    return counts;
}

// Searching the whole column is faster than following the rows of a leaf, and most columns have none.
bool LocalRows::any_missing(const LeafRows& rows, std::size_t feature) {
    fetch_column(feature);
    const std::uint8_t* codes = binned_.column(feature);
    const bool is_large = (all_rows_judge_ ? rows.size() : rows.n_sample) >= binned_.n_rows / kFasterByColumn;
    if (is_large && std::memchr(codes, kMissing, binned_.n_rows) == nullptr) return false;
    const auto is_missing = [&](std::uint32_t row) { return codes[row] == kMissing; };
    return std::ranges::any_of(rows.sample, is_missing) ||
           (all_rows_judge_ && std::ranges::any_of(rows.rest, is_missing));
}

// Counts until both sides have enough, which in most leaves is soon.
bool LocalRows::leaves_enough(const LeafRows& rows, const CodeSplit& split, std::int64_t least) {
    const std::uint8_t* codes = binned_.column(split.feature);
    std::int64_t n_left = 0, n_counted = 0;
    const auto suffices = [&](RowList list) {
        for (std::size_t first = 0; first < list.size(); first += kCountedRows) {
            const RowList counted = list.subspan(first, std::min(kCountedRows, list.size() - first));
            for (const std::uint32_t row : counted) n_left += split.sends_left(codes[row]);
            n_counted += static_cast<std::int64_t>(counted.size());
            if (std::min(n_left, n_counted - n_left) >= least) return true;
        }
        return false;
    };
    return suffices(rows.sample) || (all_rows_judge_ && suffices(rows.rest));
}

// As many columns ahead as fit into a block: one is too short to keep a disk busy.
void LocalRows::fetch_ahead(std::span<const std::uint32_t> features, std::size_t current) {
    if (!takes_batches()) return;
    const std::size_t ahead = std::max(binned_.block_rows * binned_.n_bytes / binned_.n_rows, std::size_t{1});
    const std::size_t last = std::min(features.size(), current + ahead + 1);
    for (std::size_t i = current == 0 ? 0 : current + ahead; i < last; ++i)
        fetch_pages(binned_.column(features[i]), binned_.n_rows);
}

void LocalRows::fetch_column(std::size_t feature) {
    if (!takes_batches()) return;
    fetch_pages(binned_.column(feature), binned_.n_rows);
    space_.bytes_read += binned_.n_rows;
}

}  // namespace rankwright
