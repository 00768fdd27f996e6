# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to a call, in instructions, and what a call takes in the file, in bytes.

Callgrind counts instructions on tight loops, with the recorder and without. The figure is the
difference of two lengths of the loop, so it excludes start and end of the program. It includes the
new block that is needed every few thousand calls. Bytes are those of whole files of real programs.

Usage: cost.py [--json]; needs the installed tool, valgrind and a C++ compiler.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from heapwright.artefacts.trace.file import trace_info
from heapwright.base import native

FEW, MANY = 10000, 60000
LOOPS = {
    "malloc, free": "void* volatile block = std::malloc(100); std::free(block);",
    "malloc, free of 50 sizes": "void* volatile b = std::malloc(16 + i % 50 * 8); std::free(b);",
    "calloc, free": "void* volatile block = std::calloc(10, 10); std::free(block);",
    "new, delete": "void* volatile block = ::operator new(100); ::operator delete(block);",
    "realloc": "p = std::realloc(p, 100 + i % 2); p = std::realloc(p, 100);",
}
MODES = {
    "": (),
    "paused": ("--paused",),
    "--sample 10": ("--sample", "10"),
    "--stacks": ("--stacks",),
}
HEAD = "#include <cstdlib>\n#include <new>\nstatic void* p;\n"
SOURCE = "#include <iostream>\n#include <map>\n#include <regex>\n#include <string>\nint main() {}\n"


def main() -> None:
    missing = [name for name in ("valgrind", "c++") if shutil.which(name) is None]
    if missing:
        raise SystemExit(f"not installed: {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="heapwright-") as folder:
        instructions = dict(added_instructions(Path(folder)))
        sizes = dict(bytes_per_event(Path(folder)))
    if "--json" in sys.argv:
        print(json.dumps({"instructions": instructions, "bytes": sizes}, indent=1))
        return
    print("instructions added to a call")
    for case, count in instructions.items():
        print(f"  {case:40}{count:8.1f}")
    print("bytes of the file for each event")
    for case, size in sizes.items():
        print(f"  {case:40}{size:8.1f}")


def added_instructions(folder: Path) -> Iterator[tuple[str, float]]:
    for name, body in LOOPS.items():
        program = build(folder, body)
        alone = per_round(program, folder, None)
        for mode, options in MODES.items():
            if mode and name != "malloc, free":
                continue
            recorded = per_round(program, folder, options)
            yield f"{name} {mode}".strip(), (recorded - alone) / 2


def build(folder: Path, body: str) -> Path:
    source = folder / "loop.cpp"
    source.write_text(
        f"{HEAD}int main(int, char** words) {{\n    const int rounds = std::atoi(words[1]);\n"
        f"    for (int i = 0; i < rounds; ++i) {{ {body} }}\n}}\n"
    )
    program = folder / "loop"
    words = ["c++", "-O1", "-fno-builtin", str(source), "-o", str(program)]
    subprocess.run(words, check=True)
    return program


def per_round(program: Path, folder: Path, options: tuple[str, ...] | None) -> float:
    few, many = (count(program, folder, rounds, options) for rounds in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def count(program: Path, folder: Path, rounds: int, options: tuple[str, ...] | None) -> int:
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    before = [] if options is None else recorder(folder, *options)
    words = [*before, *tool, str(program), str(rounds)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
    return int(found.group(1))


def recorder(folder: Path, *options: str) -> list[str]:
    program, library = str(native.program("record")), str(native.library("recorder"))
    trace = str(folder / "trace")
    return [program, "--trace", trace, "--preload", library, "--no-system", *options, "--"]


def bytes_per_event(folder: Path) -> Iterator[tuple[str, float]]:
    source = folder / "source.cpp"
    source.write_text(SOURCE)
    script = "import json; json.loads(json.dumps([{str(i): i} for i in range(50000)]))"
    commands = {
        "c++": ["c++", "-c", str(source), "-o", "/dev/null"],
        "python3 (PYTHONMALLOC=malloc)": ["/usr/bin/python3", "-c", script],
        "perl": ["perl", "-e", "my %h = map { $_ => $_ x 3 } 1..100000;"],
        "node": ["node", "-e", "JSON.stringify(Array.from({length: 1e5}, (_, i) => ({i})))"],
    }
    environment = {**os.environ, "PYTHONMALLOC": "malloc"}
    for name, command in commands.items():
        if shutil.which(command[0]) is None:
            continue
        for mode in ("", "--stacks"):
            words = recorder(folder, "--follow-children", *filter(None, [mode]))
            subprocess.run([*words, *command], env=environment, check=True)
            size = trace_info(folder / "trace").bytes_per_event
            assert size is not None
            yield f"{name} {mode}".strip(), size


if __name__ == "__main__":
    main()
