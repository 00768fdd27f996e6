// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that the file of a workload includes.
#pragma once

#include "barrier.hpp"
#include "memory.hpp"
#include "threads.hpp"
#include "workload.hpp"

#include <iterator>
