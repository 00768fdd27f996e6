// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Policies of a superblock whose owner changes: which free slots may share a cache line with
// objects of an earlier owner (structure/superblock/superblock.hpp).
#pragma once

namespace heapwright {

/// Any free slot of a superblock may be used.
struct AnyLines {
    static constexpr bool clean = false;
    static constexpr bool forgetsEnded = false;
};

/// After the owner tag has changed, no slot is used that shares a cache line with an older object.
struct CleanLines {
    static constexpr bool clean = true;
    static constexpr bool forgetsEnded = false;
};

/// As `CleanLines`, if the thread of the tag before is still running. Objects of an ended thread
/// count as objects of its successor.
struct CleanRunningLines {
    static constexpr bool clean = true;
    static constexpr bool forgetsEnded = true;
};

} // namespace heapwright
