/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the preloaded library that lets a listener search the memory of a process at its
 * end.
 */
#pragma once

/* Lets the listener search this process's memory now. May be called from a signal handler. */
void searchNow(void);
