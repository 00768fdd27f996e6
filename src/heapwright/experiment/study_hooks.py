# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The hooks of a study, filled in for a treatment: before and after an allocator, and each run.

Blocks have a random order, so the allocator changes often. `before_allocator` runs when the next
run has another allocator than the last one. `after_allocator` runs when the allocator changes
again.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.installation import places_here
from heapwright.artefacts.study.model import Hook, Ready, Study
from heapwright.artefacts.study.template import TemplateError, fill
from heapwright.artefacts.workload.library import workload_path
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.hooks import run_hook
from heapwright.experiment.server import Question
from heapwright.experiment.treatments import Treatment

NAMES = ("before_allocator", "after_allocator", "before_run", "after_run")


STANDING = {"command": "{command}", "report": "{report}"}
"""Placeholders that are filled in when a run is made."""


class Filling:
    """Fills in the hooks of a study, for a treatment."""

    def __init__(self, study: Study, folder: Path) -> None:
        """`folder` is that of the study file."""
        self._levels = {
            name: {level.name: level for level in factor.items}
            for name, factor in study.factors.items()
        }
        self._others = {**places_here(folder), **STANDING}

    def text(self, template: str, treatment: Treatment) -> str:
        """Raises HeapwrightError for an unbound name."""
        try:
            return fill(
                template,
                self._levels_of(treatment),
                programs=lambda name: str(workload_path(name)),
                others=self._others,
            )
        except TemplateError as error:
            raise HeapwrightError(str(error)) from error

    def words(self, templates: tuple[str, ...], treatment: Treatment) -> tuple[str, ...]:
        return tuple(self.text(each, treatment) for each in templates)

    def hook(self, hook: Hook, treatment: Treatment) -> str | tuple[str, ...]:
        if isinstance(hook, str):
            return self.text(hook, treatment)
        return self.words(hook, treatment)

    def question(self, ready: Ready, treatment: Treatment) -> Question:
        return Question(
            self.words(ready.command, treatment),
            ready.port,
            None if ready.socket is None else Path(self.text(ready.socket, treatment)),
            None if ready.path is None else Path(self.text(ready.path, treatment)),
        )

    def _levels_of(self, treatment: Treatment) -> dict[str, Level]:
        return {name: self._levels[name][level] for name, level in treatment.levels.items()}


@dataclass(slots=True)
class StudyHooks:
    """Runs the hooks around the runs of a study."""

    study: Study
    filling: Filling
    environment: Mapping[str, str]
    cwd: Path
    _last: Treatment | None = None

    @contextmanager
    def around(self, treatment: Treatment) -> Iterator[None]:
        """Run the hooks before a run, and those after it, with any outcome."""
        last = self._last
        if last is None or self._allocator(last) != self._allocator(treatment):
            self.leave_allocator()
            self._last = treatment
            self._run("before_allocator", treatment)
        self._run("before_run", treatment)
        try:
            yield
        except BaseException:
            with suppress(HeapwrightError):  # report the first error
                self._run("after_run", treatment)
            raise
        self._run("after_run", treatment)

    def leave_allocator(self) -> None:
        """End the present allocator: it has no further run, or there is none at all."""
        if self._last is not None:
            last, self._last = self._last, None
            self._run("after_allocator", last)

    def _allocator(self, treatment: Treatment) -> str:
        return treatment.levels.get(self.study.allocator_factor or "", "")

    def _run(self, name: str, treatment: Treatment) -> None:
        hook: Hook | None = getattr(self.study.hooks, name)
        if hook is not None:
            filled = self.filling.hook(hook, treatment)
            run_hook(f"the hook {name}", filled, self.environment, self.cwd)
