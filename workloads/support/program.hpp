// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that the file of a workload includes, and the line that ends it.
#pragma once

#include "barrier.hpp"
#include "memory.hpp"
#include "workload.hpp"
