// Checked views of numpy arrays: every shape, length and index is verified here, before a kernel runs.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "memory/huge_pages.hpp"
#include "queries/ranking.hpp"

namespace rankwright::bindings {

namespace nb = nanobind;

// A contiguous numpy array whose items are aligned, which nanobind does not check; see the caster below.
template <class T, int Dimensions>
struct NumpyArray : nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu> {
    using Base = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

    NumpyArray() = default;
    explicit NumpyArray(const Base& base) : Base(base) {}
};

template <class T>
using Array = NumpyArray<const T, 1>;
template <class T>
using Matrix = NumpyArray<const T, 2>;

}  // namespace rankwright::bindings

// Reading a misaligned item is undefined behaviour. A misaligned argument raises a ValueError, a misaligned
// optional one a TypeError, since in nanobind a nested caster can only refuse.
template <class T, int Dimensions>
struct nanobind::detail::type_caster<rankwright::bindings::NumpyArray<T, Dimensions>> {
    using Value = rankwright::bindings::NumpyArray<T, Dimensions>;
    using Base = make_caster<typename Value::Base>;
    static constexpr auto Name = Base::Name;
    template <class>
    using Cast = Value&;

    template <class Flags>
    bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
        if (!base_.from_python(source, flags, cleanup)) return false;
        value_ = Value(base_.value);
        return true;
    }
    template <class>
    bool can_cast() const noexcept {
        return value_.size() == 0 || reinterpret_cast<std::uintptr_t>(value_.data()) % alignof(T) == 0;
    }
    operator Value&() {
        if (!can_cast<Value>())
            throw std::invalid_argument("an array is not aligned to its item size: pass a copy");
        return value_;
    }

  private:
    Base base_;
    Value value_;
};

namespace rankwright::bindings {

template <class T>
std::span<const T> view(const Array<T>& array) {
    return {array.data(), array.size()};
}

// No result is larger. A larger claim is refused here, because an address sanitizer ends the process at it.
inline constexpr std::size_t kMostBytes = std::size_t{1} << 39;

// A new numpy array, and the span that a kernel fills.
template <class T, std::size_t Dimensions = 1>
struct Output {
    explicit Output(std::array<std::size_t, Dimensions> shape) : shape_(shape) {
        for (std::size_t length : shape)
            if (__builtin_mul_overflow(size_, length, &size_)) throw std::bad_alloc();  // MemoryError in Python
        if (size_ > kMostBytes / sizeof(T)) throw std::bad_alloc();
        data_.reset(new T[size_ == 0 ? 1 : size_]);
        use_huge_pages(data_.get(), size_ * sizeof(T));
    }
    explicit Output(std::size_t length)
        requires(Dimensions == 1)
        : Output(std::array<std::size_t, 1>{length}) {}

    std::span<T> span() { return {data_.get(), size_}; }

    nb::ndarray<nb::numpy, T> numpy() { return first(shape_[0]); }

    // The first `length` rows; the memory of the rest is kept with them.
    nb::ndarray<nb::numpy, T> first(std::size_t length) {
        shape_[0] = length;
        T* data = data_.release();
        nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return nb::ndarray<nb::numpy, T>(data, Dimensions, shape_.data(), owner);
    }

  private:
    std::array<std::size_t, Dimensions> shape_;
    std::size_t size_ = 1;
    std::unique_ptr<T[]> data_;
};

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::span<const T> values) {
    Output<T> result(values.size());
    std::copy(values.begin(), values.end(), result.span().begin());
    return result.numpy();
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(const std::vector<T>& values) {
    return to_numpy(std::span<const T>(values));
}

inline void require(bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
}

// Offsets of queries over n places: from 0 to n, never decreasing; a query has fewer than 2^32 documents.
inline Offsets checked_offsets(const Array<std::int64_t>& offsets, std::size_t n) {
    const Offsets queries = view(offsets);
    require(!queries.empty() && queries.front() == 0 && queries.back() == static_cast<std::int64_t>(n),
            "offsets must run from 0 to the number of rows");
    for (std::size_t query = 1; query < queries.size(); ++query) {
        require(queries[query - 1] <= queries[query], "offsets must not decrease");
        require(queries[query] - queries[query - 1] < (std::int64_t{1} << 32), "a query is too long");
    }
    return queries;
}

// Rows that are all in [0, n). This loop and the next have no early exit, so that they compile to SIMD
// instructions.
inline Rows checked_rows(const Array<std::int64_t>& rows, std::size_t n) {
    const Rows checked = view(rows);
    std::uint64_t signs = 0;  // the highest bit is set if a row or n - 1 - row is negative
    for (std::int64_t row : checked)
        signs |= static_cast<std::uint64_t>(row) | (n - 1 - static_cast<std::uint64_t>(row));
    require(checked.empty() || signs >> 63 == 0, "a row is out of range");
    return checked;
}

inline Doubles checked_numbers(const Array<double>& values, std::size_t n, const char* sentence) {
    require(values.size() == n, sentence);
    const Doubles numbers = view(values);
    std::int64_t missing = 0;
    for (double value : numbers) missing += value != value;
    require(missing == 0, sentence);
    return numbers;
}

inline Doubles checked_finite(const Array<double>& values, std::size_t n, const char* sentence) {
    require(values.size() == n, sentence);
    const Doubles numbers = view(values);
    std::int64_t wrong = 0;
    for (double value : numbers) wrong += value - value != 0.0;
    require(wrong == 0, sentence);
    return numbers;
}

}  // namespace rankwright::bindings
