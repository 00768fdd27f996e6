// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A server that forks one heapwright-run for each command. A fork costs a fraction of an exec, and
// no run pays for it. The process for the next command is forked at the start and when a run is
// over. It waits on the socket with its pages touched.
//
// Protocol on standard input, a socket: The client writes a head of three 32-bit numbers and passes
// a descriptor with it. The numbers count the bytes that follow, arguments and variables. The
// arguments and the environment follow, each text ended by a zero byte. The server replies with the
// process number, or a negative errno. The descriptor becomes the new process's standard error,
// which its arguments may name as the place of the result. When the client closes the socket, the
// server ends.
#pragma once

namespace heapwright::runner {

/// Runs one command line and returns the exit status.
using Once = int (*)(int count, char** arguments);

/// Serves the socket `descriptor` until it is closed. Each forked process calls `prepare` before it
/// waits for a command, and then `once`.
int serve(int descriptor, void (*prepare)(), Once once);

} // namespace heapwright::runner
