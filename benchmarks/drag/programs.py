# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag of the distribution's programs, by valgrind: a table in Markdown.

Each program does a small, fixed amount of work. Counts are deterministic, except in a program that
depends on addresses or times. One run on any machine is therefore enough. A program that is not
installed is named and skipped.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from heapwright.artefacts.drag.document import Drag
from heapwright.base.errors import HeapwrightError
from heapwright.commands.drag import watch_command
from heapwright.report.drag.words import dragging, increase, place_of, ratio, remarks
from heapwright.report.profile.words import memory, share

SQL = (
    "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where "
    "x < 2000) insert into t select x, 'text' || x from c; create index i on t(b); "
    "select count(*), max(b) from t group by a % 7;"
)
PROGRAMS: dict[str, tuple[str, ...]] = {
    "bc": ("bc", "-q", "primes.bc"),
    "sqlite3": ("sqlite3", ":memory:", SQL),
    "gawk": ("gawk", "{ n[$1 % 97]++; s = s $0 } END { print length(s), length(n) }", "numbers"),
    "perl": ("perl", "-ne", "push @a, [split //]; END { print scalar(@a) }", "numbers"),
    "sort": ("sort", "numbers"),
    "m4": ("m4", "macros.m4"),
    "git": ("git", "hash-object", "numbers", "primes.bc", "macros.m4"),
    "python3, malloc": (
        "/usr/bin/python3",
        "-S",
        "-c",
        "print(sum(len(str(i)) for i in range(999)))",
    ),
    "c++filt": ("c++filt", "_ZNSt6vectorISt4pairIiNSt7__cxx1112basic_stringIcEEEEC1ERKS4_"),
    "ls": ("ls", "-la", "/etc"),
    "cc1": ("cc1", "-quiet", "-O1", "small.c", "-o", "/dev/null"),
}
INPUTS = {
    "small.c": "int f(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i * s; return s; }\n",
    "primes.bc": "n=0\nfor (i=2; n<60; i++) {\n p=1\n for (j=2; j*j<=i; j++) if (i%j==0) p=0\n"
    " if (p) { n+=1; a[n]=i }\n}\na[60]\n2^2000 % 1000003\nquit\n",
    "macros.m4": "define(`up', `ifelse($1, 0, , `$1 up(decr($1))')')dnl\nup(60)\n",
    "numbers": "".join(f"{i * 7919 % 2003}\n" for i in range(1500)),
}
COLUMNS = ("program", "total drag", "peak", "allocated", "objects", "most drag by")


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1:] or list(PROGRAMS)
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---|" + "---:|" * 4 + "---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in INPUTS.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        os.environ["PYTHONMALLOC"] = "malloc"
        for name in wanted:
            command = PROGRAMS[name]
            program = found(command[0])
            if program is None:
                print(f"{command[0]} is not installed", file=sys.stderr)
                continue
            command = (program, *command[1:])
            try:
                drag = watched(command)
            except HeapwrightError as error:
                print(f"{name}: {error.message}", file=sys.stderr)
                continue
            print(f"| {' | '.join(row(name, drag))} |", flush=True)
            for remark in remarks(drag):
                print(f"{name}: {remark}", file=sys.stderr)


def found(program: str) -> str | None:
    """Where it is; GCC's own compiler is where GCC says."""
    if program == "cc1" and shutil.which("gcc"):
        words = ["gcc", "-print-prog-name=cc1"]
        program = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    return shutil.which(program)


def watched(command: tuple[str, ...]) -> Drag:
    """The drag of a program, whose output is discarded."""
    kept = os.dup(1)
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), 1)
        try:
            return watch_command(command, "valgrind")[0]
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def row(name: str, found: Drag) -> tuple[str, ...]:
    """The cells of one program."""
    sites = dragging(found)
    most = f"`{place_of(sites[0].frames)}` ({share(sites[0].share)})" if sites else "-"
    return (
        name,
        ratio(found.total_drag),
        increase(found.peak_increase),
        memory(found.allocated_bytes),
        f"{found.objects:,}",
        most,
    )


if __name__ == "__main__":
    main()
