// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// libheapwright-apr.so: APR's pools as reaps.
#include <apr/entry_points.hpp>
#include <apr/reap_memory.hpp>

using PoolMemory = heapwright::apr::ReapMemory;

#include <apr/entry_points.inc>
