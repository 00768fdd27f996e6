// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Storage for names on an obstack with the C library's interface. Include it after one of the two
// obstack headers. The macros of those headers contain C casts.
#pragma once

#include "load.hpp"
#include "support/calls.hpp"

#define obstack_chunk_alloc ::heapwright::workloads::allocate
#define obstack_chunk_free ::heapwright::workloads::release

namespace heapwright::workloads::symbols {
namespace {

class ObstackPlace {
public:
    ObstackPlace() { obstack_init(&stack_); }
    ObstackPlace(const ObstackPlace&) = delete;
    ObstackPlace& operator=(const ObstackPlace&) = delete;
    ~ObstackPlace() { obstack_free(&stack_, nullptr); }

    void add(char byte) { obstack_1grow(&stack_, byte); }
    const char* finished() { return static_cast<const char*>(obstack_finish(&stack_)); }
    void drop(const char* name) { obstack_free(&stack_, const_cast<char*>(name)); }
    void* object(std::size_t size) { return obstack_alloc(&stack_, size); }
    void open() { marks_[depth_++] = obstack_alloc(&stack_, 1); }
    void close(Symbol* /*first*/) { obstack_free(&stack_, marks_[--depth_]); }

private:
    struct obstack stack_ = {};
    void* marks_[deepest] = {};
    unsigned depth_ = 0;
};

} // namespace
} // namespace heapwright::workloads::symbols
