// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Redirects the calls of malloc and its relatives in a running process, and undoes this. Each
// loaded object calls imported functions through a table of addresses. The entries for the routines
// of the allocator get the addresses of the recorder's routines. No instruction is changed.
//
// Invariant: an entry is one aligned word that is written at once. A thread that calls meanwhile
// reaches the allocator by the old or by the new address. Entries of objects that were loaded
// later are not redirected. Pages that the loader has sealed are writable only while their entries
// are written.
#pragma once

#include "agreement.hpp"

namespace heapwright::recorder::attached {

/// Redirects all entries. Returns false, and nothing is redirected, if there is no memory for the
/// list of them.
/// Pre: the next allocator is known.
bool redirect() noexcept;

/// Restores all entries that still lead to the recorder. Any thread may call, also twice.
void restore() noexcept;

/// The number of redirected entries.
unsigned redirected() noexcept;

/// Stores the addresses of the recorder's routines, inverted: a search of the memory for them does
/// not find this list.
void listEntries(Agreement& agreement) noexcept;

} // namespace heapwright::recorder::attached
