# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Stress with threads: workloads under a library, and a heap built with the sanitizers.

The workloads write patterns into their objects and check them. The sanitized program calls the heap
as an object, because a sanitizer has the malloc of its process. Its threads allocate, resize and
free at random, and exchange a part of the objects.
"""

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Answer, Compiler, write
from heapwright.compose.conformance import FOREIGN, Failed, is_of_machine
from heapwright.compose.processes import Finished, run

LIMIT_S = 120.0
THREADS = 8
WORKLOADS: Mapping[str, float] = {
    "larson": 0.01,
    "threadtest": 0.2,
    "producer-consumer": 0.2,
    "round-robin": 0.05,
    "mixed": 0.05,
}
"""Installed programs with the scale of a run, which takes some tenths of a second."""
SANITIZERS = ("address,undefined", "thread")
OPTIONS: Mapping[str, str] = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}
NO_ROOM = "unexpected memory mapping"
"""Of a sanitizer that cannot place its own memory on this kernel."""

LEAST = '#include <cstdio>\nint main() { std::puts("over"); }\n'
"""A program without a heap: if it fails, the sanitizer is missing, and the heap is not at fault."""

PROGRAM = """#include <{header}>
#include <heapwright/core/immortal.hpp>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
constinit static heapwright::Immortal<{type}> heap;
struct Object {{ unsigned char* bytes = nullptr; std::size_t size = 0; unsigned char fill = 0; }};
static std::atomic<Object*> shared[16];
static const std::size_t sizes[] = {{{sizes}}};
[[noreturn]] static void fail(const char* what) {{ std::puts(what); std::_Exit(1); }}
/// Some sixty bytes of each object, the first and the last among them.
template <class Visit>
static void visit(const Object& it, std::size_t bytes, Visit see) {{
    for (std::size_t i = 0; i < bytes; i += 1 + bytes / 64) {{ see(it.bytes[i]); }}
    if (bytes != 0) {{ see(it.bytes[bytes - 1]); }}
}}
static void fill(Object& it, unsigned char with) {{
    it.fill = with;
    visit(it, it.size, [&](unsigned char& each) {{ each = with; }});
}}
static void check(const Object& it) {{
    visit(it, it.size, [&](unsigned char& each) {{
        if (each != it.fill) {{ fail("an object changed while it was live"); }}
    }});
}}
static void run(unsigned seed) {{
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    auto drawn = [&](std::size_t below) {{
        state = state * 6364136223846793005u + 1442695040888963407u;
        return std::size_t(state >> 33) % below;
    }};
    std::vector<Object> objects(96);
    for (int step = 0; step < {steps}; ++step) {{
        Object& it = objects[drawn(objects.size())];
        const std::size_t size = sizes[drawn(std::size(sizes))] + drawn(3);
        if (it.bytes == nullptr) {{
            const bool aligned = drawn(8) == 0;
            const std::size_t alignment = aligned ? std::size_t(16) << drawn(9) : 16;
            void* const made =
                aligned ? heap.object.memalign(alignment, size) : heap.object.malloc(size);
            if (made == nullptr) {{ fail("a small request got no memory"); }}
            if (reinterpret_cast<std::uintptr_t>(made) % alignment != 0) {{ fail("misaligned"); }}
            if (heap.object.getSize(made) < size) {{ fail("the usable size is too small"); }}
            it = {{static_cast<unsigned char*>(made), size, 0}};
            fill(it, static_cast<unsigned char>(drawn(256)));
            continue;
        }}
        check(it);
        if (drawn(6) == 0) {{
            const unsigned char first = it.size != 0 ? it.bytes[0] : it.fill;
            void* const moved = heap.object.realloc(it.bytes, size + 1);
            if (moved == nullptr) {{ fail("realloc got no memory"); }}
            it.bytes = static_cast<unsigned char*>(moved);
            if (it.size != 0 && it.bytes[0] != first) {{ fail("realloc lost the contents"); }}
            it.size = size + 1;
            fill(it, it.fill);
        }} else if (drawn(4) == 0) {{
            Object* const other = shared[drawn(std::size(shared))].exchange(new Object(it));
            it = other == nullptr ? Object{{}} : *other;
            delete other;
        }} else {{
            heap.object.free(it.bytes);
            it = {{}};
        }}
    }}
    for (Object& it : objects) {{
        if (it.bytes != nullptr) {{ check(it); heap.object.free(it.bytes); }}
    }}
}}
int main() {{
    for (unsigned round = 0; round < 3; ++round) {{
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < {threads}; ++i) {{ threads.emplace_back(run, 100 * round + i); }}
        for (std::thread& each : threads) {{ each.join(); }}
    }}
    for (auto& each : shared) {{
        Object* const it = each.exchange(nullptr);
        if (it != nullptr) {{ check(*it); heap.object.free(it->bytes); delete it; }}
    }}
    std::puts("over");
}}
"""


@dataclass(frozen=True, slots=True)
class Sanitized:
    """The builds with sanitizers: those that ran, those that cannot run here, what failed."""

    ran: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    failed: tuple[Failed, ...] = ()


def stressed(
    library: str, workloads: Path, environment: Mapping[str, str], seed: int
) -> Iterator[tuple[str, Failed | None]]:
    """Run each workload with threads under a library. Yields its name, and what was wrong."""
    plain = {key: text for key, text in environment.items() if not key.startswith(FOREIGN)}
    for name, scale in WORKLOADS.items():
        options = ["--threads", str(THREADS), "--seed", str(seed), "--scale", f"{scale:g}"]
        command = [str(workloads / name), *options, "--verify"]
        try:
            done = run(command, LIMIT_S, plain | {"LD_PRELOAD": library})
        except OSError as error:
            raise HeapwrightError(f"{command[0]} cannot be run: {error.strerror}") from error
        why = _fault(done.status, done.stdout, done.stderr)
        demand = "the workload ends well, and no object changes"
        yield name, Failed(name, demand, why, is_of_machine(done.status)) if why else None


def _fault(status: int | None, output: str, errors: str) -> str:
    """What is wrong with the end of a workload; empty: nothing."""
    if status != 0:
        return f"{_end(status)}: {errors.strip()[:300] or 'it said nothing'}"
    try:
        verified = json.loads(output)["verified"]
    except (ValueError, KeyError, TypeError):
        return "its result cannot be read"
    return "" if verified is True else "its memory was not verified"


def sanitized(
    header: Path, type_: str, sizes: Sequence[int], compiler: Compiler, *, steps: int = 5_000
) -> Sanitized:
    """Build the heap of a header with each of `SANITIZERS`, and let threads use it."""
    text = PROGRAM.format(
        header=header.name,
        type=type_,
        sizes=", ".join(map(str, sizes)),
        steps=steps,
        threads=THREADS // 2,
    )
    pool = ThreadPoolExecutor(len(SANITIZERS))
    try:
        results = [
            pool.submit(_sanitized, which, text, header.parent, compiler) for which in SANITIZERS
        ]
        found = [each.result() for each in results]
    except BaseException:  # an interrupt: nothing may go on
        compiler.processes.end()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    pairs = list(zip(SANITIZERS, found, strict=True))
    return Sanitized(
        ran=tuple(name for name, end in pairs if end is None or isinstance(end, Failed)),
        missing=tuple(end for _, end in pairs if isinstance(end, str)),
        failed=tuple(end for _, end in pairs if isinstance(end, Failed)),
    )


def _sanitized(which: str, text: str, folder: Path, compiler: Compiler) -> Failed | str | None:
    """None: all is well. A text says why the sanitizer cannot run here."""
    least = _built_and_run(which, "least", LEAST, folder, compiler)
    if isinstance(least, Answer):
        return f"{compiler.name} has no sanitizer for {which}"
    if not _is_over(least):
        return f"the sanitizer for {which} does not run here"
    done = _built_and_run(which, "stress", text, folder, compiler)
    if isinstance(done, Answer):
        complaint = done.complaint
        said = done.pages.strip().splitlines()
        why = f"{complaint.file}: {complaint.text}" if complaint else " | ".join(said[-3:])[:400]
        return Failed(which, "the heap compiles", why)
    if _is_over(done):
        return None
    if NO_ROOM in done.stderr:
        return f"the sanitizer for {which} does not run on this kernel"
    said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip(" =")]
    why = f"{_end(done.status)}: {' | '.join(said[:4])[:400]}"
    return Failed(which, "no report", why, is_of_machine(done.status))


def _built_and_run(
    which: str, name: str, text: str, folder: Path, compiler: Compiler
) -> Answer | Finished:
    """The answer of the compiler if it does not build the program, else the end of the program."""
    program = compiler.folder / f"{name}-{which.replace(',', '-')}"
    source = program.with_suffix(".cpp")
    write(source, text)
    flags = [f"-fsanitize={which}", "-fno-sanitize-recover=all", "-O1", "-g", "-pthread"]
    words: list[str | Path] = ["-std=c++20", "-w", f"-I{folder}", *flags, source, "-o", program]
    answer = compiler.build(words)
    if not answer.valid:
        return answer
    kept = {key: os.environ[key] for key in ("LD_LIBRARY_PATH",) if key in os.environ}
    try:
        return compiler.processes.run([program], LIMIT_S, {**OPTIONS, **kept})
    except OSError as error:
        raise HeapwrightError(f"{program} cannot be run: {error.strerror}") from error


def _is_over(done: Finished) -> bool:
    return done.status == 0 and done.stdout == "over\n"


def _end(status: int | None) -> str:
    if status is None:
        return f"not over in {LIMIT_S:g} s"
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"
