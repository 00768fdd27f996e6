# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The profile of a trace: `heapwright-profile` makes one pass over it, this checks what it says.

The pass is a program of its own because a trace has up to billions of calls. It prints a whole
profile of a megabyte at most, which is checked here like any other input.
"""

from pathlib import Path

from heapwright import __version__
from heapwright.artefacts.profile.asked_moments import NO_MOMENTS, AskedMoments
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.trace.file import plain, selection
from heapwright.artefacts.trace.processes import check_process
from heapwright.base.errors import HeapwrightError
from heapwright.base.native_programs import Program
from heapwright.profile.symbols.names import named

PROGRAM = "profile"


EVERY_SITE = "--every-site"


def profile_trace(  # noqa: PLR0913 - what a caller may ask, by name
    path: Path,
    process: int | None = None,
    root: Path | None = None,
    asked: AskedMoments = NO_MOMENTS,
    *,
    every_site: bool = False,
    names: bool = True,
) -> Profile:
    """The profile of a trace; of one process of it, if one is named.

    `root` is the root folder of a process that still runs, maybe in a container. `asked` are
    moments whose live memory is wanted. With `every_site` it lists small sites as well. Without
    `names` the sites have no names, which is faster.

    Raises HeapwrightError where the file is no trace, or not one of this version.
    """

    def refusal(why: str) -> HeapwrightError:
        return HeapwrightError(f"{path} cannot be profiled: {why}")

    check_process(path, process)
    every = [EVERY_SITE] if every_site else []
    words = [*selection(process), *every, *asked.words, plain(path)]
    profile = Program(PROGRAM, refusal).answer(Profile, words)
    origin = profile.provenance.model_copy(update={"trace": str(path)})
    profile = profile.model_copy(
        update={"heapwright_version": __version__, "provenance": origin, "between": asked.growth()}
    )
    return named(profile, root) if names else profile
