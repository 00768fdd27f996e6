# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verbs of `heapwright`, grouped by purpose, in the order of its help.

A verb's module is imported only to run the verb or to print its help. The first line of that help
stands here a second time, so that `heapwright --help` imports no verb. A test compares both.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, or a group of verbs."""

    name: str
    help: str
    """The first paragraph of its own help."""
    module: str = ""
    """Of `heapwright.cli`, with the Typer application `app`; empty: named as the verb."""

    @property
    def path(self) -> str:
        """The full name of the module."""
        return f"heapwright.cli.{self.module or self.name}"


PURPOSES = {
    "Choose an allocator": (
        Verb(
            "compare",
            "Run a command under each allocator in randomised blocks and name the one to use.",
        ),
        Verb(
            "replay",
            "Replay a trace under each allocator in randomised blocks and name the one to use.",
        ),
        Verb(
            "agree",
            "Compare how allocators rank on a program, on its replay and on a synthetic load.",
        ),
        Verb(
            "gate",
            "Check for a slowdown: one sentence and an exit status for continuous integration.",
        ),
        Verb(
            "history",
            "Show how stored comparisons changed over commits, and find the commits of changes.",
        ),
        Verb(
            "tune",
            "Search the settings of an allocator for a command, and confirm the best by new runs.",
        ),
        Verb("allocators", "List the allocators that can be used here, or show one of them."),
        Verb(
            "run",
            "Verify that an allocator takes effect in a command, and then become this command.",
        ),
        Verb(
            "doctor",
            "Check whether this machine is fit to measure on, and how small a difference it shows.",
        ),
    ),
    "Explain a program's memory": (
        Verb(
            "explain",
            "Find the reason for a program's memory: leak, retention, growth, or none of these.",
        ),
        Verb("look", "Show what is resident in a running process or a core file, and why."),
        Verb("top", "Watch a running process: resident, live and held memory, rates, block sizes."),
        Verb(
            "profile",
            "Show a program's requests to malloc: amounts, sizes, lifetimes, threads, call sites.",
        ),
        Verb(
            "drag",
            "Show how much longer than needed a program holds its memory, and at which call sites.",
        ),
        Verb(
            "limit",
            "Check budgets of memory: allocations, bytes, peak, leaks, functions that must not "
            "allocate.",
        ),
    ),
    "Record and generate loads": (
        Verb("record", "Run a command and record all its requests to malloc in one trace file."),
        Verb("attach", "Record a process that already runs, and stop again, without a restart."),
        Verb("trace", "Show the content of a trace, or check all of it."),
        Verb(
            "synth",
            "Generate a load that behaves like a profiled program, and measure the difference.",
        ),
        Verb("export", "Write a trace as a table, or in the format of another tool."),
        Verb("import", "Convert a recording of another tool into a trace.", module="import_trace"),
    ),
    "Build and test an allocator": (
        Verb(
            "compose",
            "Build an allocator from layers, run the conformance suite on it, and register it.",
        ),
        Verb(
            "tailor",
            "Build an allocator from layers for one program, and judge it beside others.",
        ),
        Verb(
            "taxonomy", "Measure the speed, scaling, false sharing and memory growth of allocators."
        ),
        Verb(
            "validate",
            "Compare a stand-in with the original library: memory, locks, speedup and taxonomy.",
        ),
        Verb(
            "kernel",
            "Build and boot kernels, one for each kernel allocator, and model these allocators.",
        ),
    ),
    "Run a study": (
        Verb("study", "Run studies: factors and their levels in one file, in randomised blocks."),
        Verb(
            "analyse",
            "Analyse the runs of a study: variance, groups, ratios, growth, rankings, agreement.",
        ),
        Verb("report", "Write a page of results that needs no other file, and figures for papers."),
        Verb("programs", "Prepare and run real programs and servers as loads for allocators."),
        Verb(
            "workloads",
            "List the named workloads, show one of them, or print the path of its program.",
        ),
    ),
}
"""The verbs by purpose, in the order of the help."""
VERBS = tuple(verb for verbs in PURPOSES.values() for verb in verbs)
