# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that keep a heap of their own beside malloc or interpret a script, and how to look
inside.

A language runtime or a browser maps memory and divides it itself. Its objects never reach malloc,
so a preloaded recorder or allocator sees a part of its memory. This table recognises such programs
by the name of the executable or of a mapped library.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class ForeignHeap:
    """A heap that is not malloc's."""

    runtime: str
    """The runtime's name."""
    heap: str
    """What the runtime calls its heap."""
    executables: str
    """Pattern of the names of programs that have it; empty: known by its libraries alone."""
    libraries: str
    """Pattern of the names of libraries that bring it; empty: known by its programs alone."""
    advice: str
    """How to look inside."""
    opened_by: tuple[str, str] | None = None
    """The variable, and the pattern of its values, with which the runtime uses malloc instead."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A program whose call stacks show its own functions, not the lines of its script."""

    language: str
    executables: str
    """Pattern of the names of programs."""
    tool: str
    """What names the lines or objects of the script, and how to start it."""


INTERPRETERS = (
    Interpreter(
        "Python",
        r"(python|pypy)(\d(\.\d+)?)?(d|t)?(-dbg)?",
        "tracemalloc (python3 -X tracemalloc) names lines of the script",
    ),
    Interpreter(
        "JavaScript",
        r"node(js)?",
        "the heap profiler (node --heap-prof) names functions of the script",
    ),
    Interpreter(
        "Perl", r"perl(\d[\d.]*)?", "Devel::MAT names the variables of the script that keep memory"
    ),
    Interpreter(
        "Ruby",
        r"ruby(\d(\.\d+)?)?",
        "ObjectSpace.trace_object_allocations names lines of the script",
    ),
    Interpreter("PHP", r"php(-cgi|-fpm)?(\d(\.\d+)?)?", "memprof names functions of the script"),
)
FOREIGN_HEAPS = (
    ForeignHeap(
        "CPython",
        "pymalloc arenas",
        r"python(\d(\.\d+)?)?(d|t)?(-dbg)?",
        r"libpython\d.*\.so.*",
        "PYTHONMALLOC=malloc makes each object a call of malloc",
        ("PYTHONMALLOC", r"malloc(_debug)?"),
    ),
    ForeignHeap(
        "PyPy",
        "garbage-collected heap",
        r"pypy\d*(\.\d+)?(-c)?",
        r"libpypy\d.*\.so.*",
        "gc.get_stats() prints what the collector holds",
    ),
    ForeignHeap(
        "Node.js",
        "V8 heap",
        r"node(js)?|electron|deno|bun",
        r"libnode\.so.*|libv8.*\.so.*",
        "node --heapsnapshot-signal=SIGUSR2 writes a snapshot for the developer tools, and "
        "--max-old-space-size limits the heap",
    ),
    ForeignHeap(
        "Java",
        "garbage-collected heap of the JVM",
        r"java(ws)?|javac|jshell",
        r"libjvm\.so",
        "jcmd PID VM.native_memory (with -XX:NativeMemoryTracking=summary) and jcmd PID "
        "GC.heap_info print it",
    ),
    ForeignHeap(
        "Go",
        "garbage-collected heap",
        "",
        r"libgo\.so.*",
        "runtime/pprof writes a heap profile, and GODEBUG=gctrace=1 prints each collection",
    ),
    ForeignHeap(
        ".NET",
        "garbage-collected heap",
        r"dotnet",
        r"libcoreclr\.so|libclrgc\.so",
        "dotnet-counters and dotnet-gcdump print it",
    ),
    ForeignHeap(
        "Mono",
        "garbage-collected heap",
        r"mono(-sgen)?",
        r"libmono(sgen|-2\.0|boehm).*\.so.*",
        "mono --profile=log records it",
    ),
    ForeignHeap(
        "Ruby",
        "heap pages of the collector",
        r"ruby(\d(\.\d+)?)?|irb",
        r"libruby.*\.so.*",
        "ObjectSpace.memsize_of_all and GC.stat print it; strings and arrays that do not fit into "
        "a slot are malloc's",
    ),
    ForeignHeap(
        "PHP",
        "Zend memory manager",
        r"php(\d(\.\d+)?)?|php-(cgi|fpm)(\d(\.\d+)?)?|php(-cgi|-fpm)\d(\.\d+)?",
        r"libphp\d*.*\.so.*",
        "USE_ZEND_ALLOC=0 makes each object a call of malloc",
        ("USE_ZEND_ALLOC", "0"),
    ),
    ForeignHeap(
        "Erlang",
        "allocators of the BEAM",
        r"beam(\.smp|\.debug)?|erl",
        "",
        "recon_alloc prints it, and the option +MIscs of erl limits it",
    ),
    ForeignHeap(
        "LuaJIT",
        "garbage-collected heap",
        r"luajit.*",
        r"libluajit.*\.so.*",
        'collectgarbage("count") prints it; Lua itself asks malloc',
    ),
    ForeignHeap(
        "SBCL",
        "dynamic space",
        r"sbcl",
        "",
        "(room) prints it",
    ),
    ForeignHeap(
        "GHC",
        "block allocator of the Haskell runtime",
        r"ghc(-\d.*)?",
        r"libHSrts.*\.so.*",
        "the option +RTS -s prints it",
    ),
    ForeignHeap(
        "Chromium",
        "PartitionAlloc and the V8 heap",
        r"chrom(e|ium)(-browser|-headless-shell)?|headless_shell|msedge|brave|opera|vivaldi.*",
        r"libcef\.so|libQt\dWebEngineCore\.so.*",
        "chrome://memory-internals and the developer tools show it",
    ),
    ForeignHeap(
        "Firefox",
        "mozjemalloc and the SpiderMonkey heap",
        r"firefox(-esr|-bin)?|thunderbird(-bin)?|plugin-container",
        r"libxul\.so|libmozjs-.*\.so.*",
        "about:memory shows it",
    ),
    ForeignHeap(
        "WebKit",
        "bmalloc and the JavaScriptCore heap",
        r"WebKit(Web|Network|GPU)Process|MiniBrowser|epiphany",
        r"lib(javascriptcoregtk|webkit2?gtk|WPEWebKit).*\.so.*",
        "Malloc=1 makes bmalloc ask malloc",
        ("Malloc", "1"),
    ),
)
"""All that are known. Go programs have names of their own; their file tells (a section of it)."""

GO = next(each for each in FOREIGN_HEAPS if each.runtime == "Go")


def foreign_heap_of(executable: str, libraries: Iterable[str] = ()) -> ForeignHeap | None:
    """The heap that a program keeps beside malloc's, by its name and by what it has mapped."""
    name = PurePath(executable).name
    for each in FOREIGN_HEAPS:
        if each.executables and re.fullmatch(each.executables, name):
            return each
    mapped = {PurePath(library).name for library in libraries}
    for each in FOREIGN_HEAPS:
        if each.libraries and any(re.fullmatch(each.libraries, library) for library in mapped):
            return each
    return None


def interpreter_of(executable: str) -> Interpreter | None:
    """The interpreter that a program is, by its name."""
    name = PurePath(executable).name
    return next((each for each in INTERPRETERS if re.fullmatch(each.executables, name)), None)


def foreign_heap_named(runtime: str) -> ForeignHeap | None:
    """The entry of the table for a runtime's name."""
    return next((each for each in FOREIGN_HEAPS if each.runtime == runtime), None)


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make runtimes ask malloc, as far as they are set."""
    names = [each.opened_by[0] for each in FOREIGN_HEAPS if each.opened_by is not None]
    return {name: environment[name] for name in names if name in environment}


def is_opened(heap: ForeignHeap, environment: Mapping[str, str]) -> bool:
    """Whether the environment makes the runtime ask malloc instead."""
    if heap.opened_by is None:
        return False
    variable, values = heap.opened_by
    return re.fullmatch(values, environment.get(variable, "")) is not None
