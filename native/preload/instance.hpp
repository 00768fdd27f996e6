// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The one allocator of the process. It is complete in the file's image when the first malloc
// arrives (from the dynamic linker, before any constructor), and it is never destroyed.
// Cost: none; its address is known at link time.
#pragma once

#include <heapwright/core/immortal.hpp>

namespace heapwright::preload {

template <class Allocator>
inline constinit Immortal<Allocator> theAllocator;

template <class Allocator>
inline Allocator& instance() {
    return theAllocator<Allocator>.object;
}

} // namespace heapwright::preload
