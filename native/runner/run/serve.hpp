// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One heapwright-run that stays, and makes another of itself for each command that it is asked for.
// Being forked costs a fraction of being executed anew, and no run pays for that either: the
// process for the next command is made when a run is over, and waits, its pages at hand, on the
// socket itself.
//
// The other side of the socket on standard input writes a head of three 32-bit numbers (bytes that
// follow, arguments, variables), with which it passes a descriptor; then the arguments, as on a
// command line, and the variables of the environment, each ended by a zero byte. It is answered the
// number of the process, or a negative errno. The descriptor becomes the new process's standard
// error, which its arguments may name as the place of the result. When the other side is gone, this
// one ends.
#pragma once

namespace heapwright::runner {

/// Runs one command line; the exit status.
using Once = int (*)(int count, char** arguments);

/// Serves the socket `descriptor` to its end. A process that it makes calls `prepare` while it
/// waits for a command, and ends with `once`.
int serve(int descriptor, void (*prepare)(), Once once);

} // namespace heapwright::runner
