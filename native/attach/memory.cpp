// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <sys/uio.h>

namespace heapwright::attach {

bool readMemory(pid_t pid, Address at, void* to, std::size_t bytes) noexcept {
    const iovec local = {to, bytes};
    const iovec remote = {reinterpret_cast<void*>(at), bytes};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool writeMemory(pid_t pid, Address at, const void* from, std::size_t bytes) noexcept {
    const iovec local = {const_cast<void*>(from), bytes};
    const iovec remote = {reinterpret_cast<void*>(at), bytes};
    return process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

} // namespace heapwright::attach
