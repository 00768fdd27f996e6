/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers drawn from a seed by SplitMix64 (Steele, Lea and Flood, 2014): the same sequence on every
 * machine.
 */
#include "guest.h"

static uint64_t state;

void seedDraws(uint64_t seed) {
    state = seed;
}

uint64_t draw(uint64_t end) {
    uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (mixed ^ (mixed >> 31)) % end;
}
