// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What can happen between threads.
#pragma once

#include <cstdint>

namespace heapwright {

enum class Event : std::uint8_t {
    load,            ///< a shared variable is read
    store,           ///< … is written
    readModifyWrite, ///< … is changed in one step, or an attempt is made
    written,         ///< a variable that a lock protects, or an object's header, is written
    lockTrying,      ///< a lock will be taken if it is free
    lockTaking,      ///< a lock will be taken, however long it takes
    lockTaken,       ///< it has been
    lockWaiting,     ///< it is not free, and is waited for
    lockAtomic,      ///< an atomic instruction works on a lock's word
    lockFreeing,     ///< it will be given back
};

} // namespace heapwright
