// Objects that one Python thread may use at a time: bindings release the GIL, which then does not protect them.
#pragma once
#include <mutex>

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {

template <class T>
struct Guarded : T {
    using T::T;
    mutable std::mutex turn;
};

template <class T>
std::unique_lock<std::mutex> take_turn(const Guarded<T>& guarded) {
    std::unique_lock lock(guarded.turn, std::try_to_lock);
    require(lock.owns_lock(), "another thread is using this object");
    return lock;
}

// A property that is read under the lock.
template <class T, class Value>
auto locked(Value (T::*read)() const) {
    return [read](const Guarded<T>& guarded) {
        const auto turn = take_turn(guarded);
        return (guarded.*read)();
    };
}

}  // namespace rankwright::bindings
