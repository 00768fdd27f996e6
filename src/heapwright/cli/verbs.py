# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verbs of `heapwright`, in the order of its help.

The modules with their options are imported when a verb is run or asked for its help. Their first
lines of help stand here a second time, so that `heapwright --help` imports none of them. A test
compares both.
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


VERBS = (
    Verb(
        "agree",
        "Say whether allocators rank on a replay and on a synthetic load as on the program itself.",
    ),
    Verb(
        "analyse",
        "Analyse the runs of a study: variance, groups, ratios, growth, rankings, agreement.",
    ),
    Verb(
        "compare",
        "Run a command under each allocator, in randomised blocks, and say which one to use.",
    ),
    Verb(
        "compose",
        "Make an allocator from layers: compile it, run the conformance suite on it, and "
        "know it by name from then on.",
    ),
    Verb(
        "doctor",
        "Say whether this machine is fit to measure on, what to do, and how small a "
        "difference shows.",
    ),
    Verb(
        "drag",
        "Say how much longer than it is needed a program's memory is held, and by which sites.",
    ),
    Verb(
        "explain",
        "Say why a program's memory is what it is: leak, retention, growth, or none of these.",
    ),
    Verb("gate", "Say in one sentence and by the exit status whether anything became slower."),
    Verb(
        "profile",
        "Say what a program asks of malloc: how much, which sizes, for how long, in which threads.",
    ),
    Verb(
        "replay",
        "Replay a trace under each allocator, in randomised blocks, and say which one to use.",
    ),
    Verb("report", "Make a page that needs nothing but itself, and figures for papers."),
    Verb(
        "synth",
        "Draw a load that behaves like a profiled program, and say how far it is from it.",
    ),
    Verb("record", "Run a command and write down all that it asks of malloc, into one file."),
    Verb(
        "taxonomy",
        "Measure whether allocators are fast and scalable, share lines, and let memory grow.",
    ),
    Verb("export", "Write a trace in a format of others."),
    Verb("import", "Make a trace of a file that another tool recorded.", module="import_trace"),
    Verb("allocators", "List the allocators that can be used here, or show one of them."),
    Verb("kernel", "The kernel's own allocators: kernels built and booted, one for each of them."),
    Verb(
        "programs",
        "Real programs and servers to put under study: what is needed, and one run of each.",
    ),
    Verb("study", "Studies: factors and their levels in one file, run as randomised blocks."),
    Verb("trace", "Say what a trace holds, or check all of it."),
    Verb("workloads", "List the named workloads, show one of them, or say where its program is."),
)
