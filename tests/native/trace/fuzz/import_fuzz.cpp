// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .wl, .mtrace, Android or mtrace() trace; the first byte says which. What comes of
// them goes nowhere: the writer's memory is what counts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "trace/program/import/import.hpp"

using namespace heapwright::trace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    void (*const formats[])(Import&) = {importWl, importMtrace, importAndroid, importMtraceText};
    const std::span bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
    try {
        Import import(bytes, "/dev/null", 0);
        formats[data[0] % 4](import);
        import.writer.close();
    } catch (const TraceError& error) {
        if (error.offset > size)
            std::abort();
    }
    return 0;
}
