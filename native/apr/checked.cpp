// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// libheapwright-apr-checked.so: APR's pools as reaps that check their arguments.
#include <apr/entry_points.hpp>
#include <apr/reap_memory.hpp>

using PoolMemory = heapwright::apr::CheckedReapMemory;

#include <apr/entry_points.inc>
