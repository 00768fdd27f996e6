// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions that a program compiled with `-fsanitize=thread` calls at its memory accesses. The
// compilers define them as the interface of their thread sanitizer. Here, each records an access to
// the object at the address. Those for copies also copy. The atomic ones are in atomics.cpp.
//
// Cost: about fifteen instructions. An access of fixed size lies within one object, so its first
// byte determines the object.
#include "runtime.hpp"

#include <cstdint>
#include <cstring>

using heapwright::drag::runtime;

#pragma GCC visibility push(default)

extern "C" {

void __tsan_init() {
    runtime.noteRebuilt();
}

// Entries and exits of functions. Ignored, because the chains of calls are read from the stack.
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

#define ACCESS(kind)                                                                               \
    void __tsan_##kind(void* address) {                                                            \
        runtime.touch(address);                                                                    \
    }                                                                                              \
    void __tsan_##kind##_pc(void* address, void*) {                                                \
        runtime.touch(address);                                                                    \
    }
#define ACCESSES(size)                                                                             \
    ACCESS(read##size)                                                                             \
    ACCESS(write##size)                                                                            \
    ACCESS(read_write##size)                                                                       \
    ACCESS(unaligned_read##size)                                                                   \
    ACCESS(unaligned_write##size)                                                                  \
    ACCESS(unaligned_read_write##size)                                                             \
    ACCESS(volatile_read##size)                                                                    \
    ACCESS(volatile_write##size)                                                                   \
    ACCESS(unaligned_volatile_read##size)                                                          \
    ACCESS(unaligned_volatile_write##size)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void* address, std::uintptr_t size) {
    runtime.touch(address, size);
}
void __tsan_write_range(void* address, std::uintptr_t size) {
    runtime.touch(address, size);
}

void __tsan_vptr_read(void** place) {
    runtime.touch(place);
}
void __tsan_vptr_update(void** place, void*) {
    runtime.touch(place);
}

// Newer compilers call these for copies that they do not inline.
void* __tsan_memcpy(void* to, const void* from, std::uintptr_t size) {
    runtime.touch(from, size);
    runtime.touch(to, size);
    return std::memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, std::uintptr_t size) {
    runtime.touch(from, size);
    runtime.touch(to, size);
    return std::memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, std::uintptr_t size) {
    runtime.touch(to, size);
    return std::memset(to, value, size);
}

// Calls by which a program informs the sanitizer.
void __tsan_acquire(void*) {}
void __tsan_release(void*) {}
void __tsan_mutex_create(void*, unsigned) {}
void __tsan_mutex_destroy(void*, unsigned) {}
void __tsan_mutex_pre_lock(void*, unsigned) {}
void __tsan_mutex_post_lock(void*, unsigned, int) {}
int __tsan_mutex_pre_unlock(void*, unsigned) {
    return 0;
}
void __tsan_mutex_post_unlock(void*, unsigned) {}
void __tsan_mutex_pre_signal(void*, unsigned) {}
void __tsan_mutex_post_signal(void*, unsigned) {}
void __tsan_mutex_pre_divert(void*, unsigned) {}
void __tsan_mutex_post_divert(void*, unsigned) {}

} // extern "C"

#pragma GCC visibility pop
