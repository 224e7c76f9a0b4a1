#include "rankwright/vectors.hpp"

namespace rankwright::RANKWRIGHT_VECTOR_PATH {
namespace {

constexpr std::size_t kRowBlock = 256;
using Four = std::int64_t __attribute__((vector_size(32), may_alias));
using Eight = std::int64_t __attribute__((vector_size(64), may_alias));

// Adds a block of rows to the slots of kColumns features. The rows' numbers are loaded once for all of them, and
// the slots stay in the nearest caches meanwhile. The codes of the rows that come next are fetched ahead.
template <class Numbers, std::size_t kColumns>
void add_block(const WideTask& task, std::size_t begin, std::size_t end, std::size_t column) {
    const std::size_t size = task.width * sizeof(std::int64_t) / sizeof(Numbers);  // vectors per row
    const std::size_t ahead = task.n_rows - end < kRowBlock ? task.n_rows - end : kRowBlock;
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t row = task.rows[i], place = row * task.row_stride;
        if (i - begin < ahead)
            __builtin_prefetch(task.columns[column] + task.rows[i + (end - begin)] * task.row_stride);
        const auto* own = reinterpret_cast<const Numbers*>(task.values + row * task.width);
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kColumns; ++c) {
            auto* sums = reinterpret_cast<Numbers*>(task.sums + (column + c) * task.slot_size) +
                         task.columns[column + c][place] * size;
            for (std::size_t k = 0; k < size; ++k) sums[k] += own[k];
        }
    }
}

// As above, where a row's numbers are a single vector.
template <class Numbers, std::size_t kColumns>
void add_single(const WideTask& task, std::size_t begin, std::size_t end, std::size_t column) {
    const std::size_t ahead = task.n_rows - end < kRowBlock ? task.n_rows - end : kRowBlock;
    const auto* values = reinterpret_cast<const Numbers*>(task.values);
    const std::uint8_t* codes[kColumns];
    Numbers* sums[kColumns];
    for (std::size_t c = 0; c < kColumns; ++c) {
        codes[c] = task.columns[column + c];
        sums[c] = reinterpret_cast<Numbers*>(task.sums + (column + c) * task.slot_size);
    }
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t row = task.rows[i], place = row * task.row_stride;
        if (i - begin < ahead) __builtin_prefetch(codes[0] + task.rows[i + (end - begin)] * task.row_stride);
        const Numbers own = values[row];
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kColumns; ++c) sums[c][codes[c][place]] += own;
    }
}

using AddBlock = void (*)(const WideTask&, std::size_t, std::size_t, std::size_t);

void add_all(const WideTask& task, AddBlock add_four, AddBlock add_one) {
    for (std::size_t begin = 0; begin < task.n_rows; begin += kRowBlock) {
        const std::size_t end = task.n_rows - begin < kRowBlock ? task.n_rows : begin + kRowBlock;
        std::size_t column = 0;
        for (; column + 4 <= task.n_columns; column += 4) add_four(task, begin, end, column);
        for (; column < task.n_columns; ++column) add_one(task, begin, end, column);
    }
}

}  // namespace

void add_wide_rows(const WideTask& task) {
    if (task.width == 4)
        add_all(task, add_single<Four, 4>, add_single<Four, 1>);
    else if (task.width == 8)
        add_all(task, add_single<Eight, 4>, add_single<Eight, 1>);
    else
        add_all(task, add_block<Four, 4>, add_block<Four, 1>);
}

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
