// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// How the sanitizers behave in these tests, where the build has them: a handler that the test
// itself has called by raise() may allocate.

extern "C" {
[[gnu::visibility("default")]] const char* __tsan_default_options();

const char* __tsan_default_options() {
    return "report_signal_unsafe=0";
}
}
