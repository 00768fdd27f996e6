// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How the members of an archive reach what they replace: by name, in a program without a dynamic
// linker. A static program binds `sigaction` to this library. The C library's own function is
// called by its internal name, which glibc and musl share.
#pragma once

#include <csignal>

extern "C" int heapwrightLibcSigaction(int signal, const struct sigaction* action,
                                       struct sigaction* before) noexcept asm("__libc_sigaction");

namespace heapwright::preload {

struct ArchiveLink {
    static auto* nextSigaction() { return &heapwrightLibcSigaction; }
};

} // namespace heapwright::preload
