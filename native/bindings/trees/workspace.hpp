// The memory that growing a tree uses, as Python holds it.
#pragma once
#include <mutex>

#include "bindings/arguments/arrays.hpp"
#include "trees/grower.hpp"

namespace rankwright::bindings {

// One thread grows in a workspace at a time: the interpreter's lock, released meanwhile, does not ensure that.
struct GuardedWorkspace : GrowthWorkspace {
    std::mutex turn;
};

// Runs grow() without the interpreter's lock, alone in the workspace.
template <class Grow>
auto grow_alone(GuardedWorkspace& workspace, const Grow& grow) {
    const std::unique_lock turn(workspace.turn, std::try_to_lock);
    require(turn.owns_lock(), "another thread is using this workspace");
    nb::gil_scoped_release release;
    return grow();
}

}  // namespace rankwright::bindings
