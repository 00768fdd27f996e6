/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How much memory a process has of its own, as the kernel counts its pages. What a pool has grown
 * by is seen between two looks, before the pool goes.
 */
#ifndef HEAPWRIGHT_CALCULATOR_GROWTH_H
#define HEAPWRIGHT_CALCULATOR_GROWTH_H

#include <stddef.h>

/* Bytes of anonymous memory that are there, 0 where the kernel does not say. Asks for no memory. */
size_t ownMemory(void);

/* What has come since `before`; 0 if it became less. */
size_t grownSince(size_t before);

#endif
