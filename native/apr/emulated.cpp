// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// libheapwright-apr-emulated.so: APR's pools on plain malloc and free.
#include <apr/emulated_memory.hpp>
#include <apr/entry_points.hpp>

using PoolMemory = heapwright::apr::EmulatedMemory;

#include <apr/entry_points.inc>
