#include "simd/kernels.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

constexpr std::size_t kRowBlock = 256;
// Columns at once: an addition to a sum waits for the one before it if both rows have the same code, and other
// columns fill the wait.
constexpr std::size_t kColumns = 16;
using Four = std::int64_t __attribute__((vector_size(32), may_alias));
using Eight = std::int64_t __attribute__((vector_size(64), may_alias));

// A block of rows, and the first of the columns whose slots they are added to.
struct Block {
    std::size_t begin, end, column;
};

// The codes of the rows that come next are fetched ahead, one row's for each row added.
void fetch_ahead(const WideTask& task, const Block& block, std::size_t i) {
    const std::size_t next = i + (block.end - block.begin);
    if (next < task.n_rows) __builtin_prefetch(task.columns[block.column] + task.rows[next] * task.row_stride);
}

// One column of rows with any number of groups of four integers.
void add_any(const WideTask& task, const Block& block) {
    const std::size_t n_groups = task.width / 4;
    auto* sums = reinterpret_cast<Four*>(task.sums + block.column * task.slot_size);
    for (std::size_t i = block.begin; i < block.end; ++i) {
        fetch_ahead(task, block, i);
        const std::size_t row = task.rows[i];
        const auto* numbers = reinterpret_cast<const Four*>(task.values + row * task.width);
        Four* to = sums + task.columns[block.column][row * task.row_stride] * n_groups;
        for (std::size_t k = 0; k < n_groups; ++k) to[k] += numbers[k];
    }
}

// Several columns of rows whose integers fit one variable, which is loaded once for all columns.
template <class Numbers, std::size_t kCount>
void add_listed(const WideTask& task, const Block& block) {
    constexpr std::size_t slot = 256 + 64 / sizeof(Numbers);  // padded as in histograms/histogram.hpp
    const auto* values = reinterpret_cast<const Numbers*>(task.values);
    auto* sums = reinterpret_cast<Numbers*>(task.sums + block.column * task.slot_size);
    const std::uint8_t* const* columns = task.columns + block.column;
    for (std::size_t i = block.begin; i < block.end; ++i) {
        fetch_ahead(task, block, i);
        const std::size_t row = task.rows[i], offset = row * task.row_stride;
        const Numbers numbers = values[row];
#pragma GCC unroll 16
        for (std::size_t c = 0; c < kCount; ++c) sums[c * slot + columns[c][offset]] += numbers;
    }
}

// The same where the columns are neighbours: then one address serves all codes of a row.
template <class Numbers>
void add_neighbours(const WideTask& task, const Block& block) {
    constexpr std::size_t slot = 256 + 64 / sizeof(Numbers);
    const auto* values = reinterpret_cast<const Numbers*>(task.values);
    auto* sums = reinterpret_cast<Numbers*>(task.sums + block.column * task.slot_size);
    const std::uint8_t* first = task.columns[block.column];
    for (std::size_t i = block.begin; i < block.end; ++i) {
        fetch_ahead(task, block, i);
        const std::size_t row = task.rows[i];
        const std::uint8_t* codes = first + row * task.row_stride;
        const Numbers numbers = values[row];
#pragma GCC unroll 16
        for (std::size_t c = 0; c < kColumns; ++c) sums[c * slot + codes[c]] += numbers;
    }
}

bool are_neighbours(const WideTask& task, std::size_t column) {
    return task.columns[column + kColumns - 1] == task.columns[column] + kColumns - 1;
}

template <class Numbers>
void add_block(const WideTask& task, Block block) {
    for (; block.column + kColumns <= task.n_columns; block.column += kColumns)
        are_neighbours(task, block.column) ? add_neighbours<Numbers>(task, block)
                                           : add_listed<Numbers, kColumns>(task, block);
    for (; block.column < task.n_columns; ++block.column) add_listed<Numbers, 1>(task, block);
}

}  // namespace

void add_wide_rows(const WideTask& task) {
    for (std::size_t begin = 0; begin < task.n_rows; begin += kRowBlock) {
        const std::size_t end = task.n_rows - begin < kRowBlock ? task.n_rows : begin + kRowBlock;
        Block block{begin, end, 0};
        if (task.width == 4)
            add_block<Four>(task, block);
        else if (task.width == 8)
            add_block<Eight>(task, block);
        else
            for (; block.column < task.n_columns; ++block.column) add_any(task, block);
    }
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
