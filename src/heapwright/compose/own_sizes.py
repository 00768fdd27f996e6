# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the sizes are true that a heap states, where no program can see them.

A SizeHeap on top answers malloc_usable_size by itself. A wrong getSize below it is never called, so
no case of the suite that runs on the library finds it. The heap is then asked directly, by a small
program with the same check as the case `usable-size`.
"""

import signal

from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Answer, Compiler, write
from heapwright.compose.conformance import Failed
from heapwright.compose.processes import run

CASE = "own-sizes"
DEMAND = "getSize is at least the request, and all of it is the object's own"
LIMIT_S = 60.0
PROGRAM = """#include <heapwright/heap.hpp>
{includes}
#include <conformance/size_check.hpp>
#include <cstdio>
#include <new>
namespace heapwright::allocators {{}}
using namespace heapwright;
using namespace heapwright::allocators;
using Asked = {heap};
alignas(Asked) static unsigned char memory[sizeof(Asked)];
static Asked& heap = *new (static_cast<void*>(memory)) Asked;
static bool isWrong(std::size_t size) {{
    const char* const fault = conformance::wrongSize(heap, size);
    if (fault != nullptr) {{ std::printf("of %zu bytes: %s\\n", size, fault); }}
    return fault != nullptr;
}}
int main() {{
    for (std::size_t size = 1; size <= 1100; ++size) {{ if (isWrong(size)) {{ return 1; }} }}
    for (std::size_t size = 2048; size <= 1024 * 1024; size *= 2) {{
        if (isWrong(size - 17) || isWrong(size) || isWrong(size + 1)) {{ return 1; }}
    }}
    return 0;
}}
"""


def check_own_sizes(heap: str, includes: str, compiler: Compiler) -> Failed | Answer | None:
    """What is wrong with the getSize of a heap, or what the compiler says of it; None if all is
    well. Raises HeapwrightError where the check cannot be run."""
    source, program = compiler.folder / "own_sizes.cpp", compiler.folder / "own_sizes"
    write(source, PROGRAM.format(includes=includes, heap=heap))
    answer = compiler.build(["-std=c++20", "-O1", "-w", source, "-o", program])
    if not answer.valid:
        return answer
    try:
        done = run([program], LIMIT_S)
    except OSError as error:
        raise HeapwrightError(f"{program} cannot be run: {error.strerror or error}") from error
    if done.status == 0:
        return None
    return Failed(
        CASE, DEMAND, f"objects {done.stdout.strip()}" if done.stdout else _end(done.status)
    )


def _end(status: int | None) -> str:
    if status is None:
        return f"not over in {LIMIT_S:g} s"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"
