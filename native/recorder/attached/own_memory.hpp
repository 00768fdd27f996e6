// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The mappings that the agent makes in its process, so that it can remove them all. The linker
// leads the agent's calls of mmap, munmap and syscall here (`--wrap`).
#pragma once

namespace heapwright::recorder::attached {

/// Removes all mappings. Returns the number of those that were not kept in mind, because there were
/// too many at once.
/// Pre: no thread uses them.
unsigned unmapAll() noexcept;

} // namespace heapwright::recorder::attached
