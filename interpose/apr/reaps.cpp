// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// libheapwright-apr.so: APR's pools as reaps.
#include <interpose/apr/entry_points.hpp>
#include <interpose/apr/reap_memory.hpp>

using PoolMemory = heapwright::apr::ReapMemory;

#include <interpose/apr/entry_points.inc>
