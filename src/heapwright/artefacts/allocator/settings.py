# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of allocators as data: type, range, levels, effect and versions.

One file of `catalogue/settings/` describes the settings of one allocator. `heapwright tune`
searches their levels. The level `default` leaves a setting out, so the allocator uses its own
value.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from heapwright.artefacts.run.allocator_settings import LISTS, beside_what_is_set
from heapwright.base.errors import HeapwrightError
from heapwright.base.shipped import shipped_folder
from heapwright.base.spelling import nearest
from heapwright.base.validation import problems_of

DEFAULT = "default"
"""The level that leaves a setting out."""
TIME = re.compile(r"[0-9]{1,9}(ms|s|min)")
VERSION = re.compile(r"(?<![A-Za-z0-9.])[0-9]+(?:\.[0-9]+)+")
FINER = 4
"""Finer levels are this factor away from a level, or this part of the range on a linear scale."""
FEWEST_LEVELS = 2
MOST_LEVELS = 8

Kind = Literal["integer", "size", "boolean", "choice", "time"]


class AllocatorSetting(BaseModel):
    """One setting of an allocator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    variable: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$")
    """The variable of the environment."""
    key: str = ""
    """Its name in a variable with several settings."""
    kind: Kind = Field(alias="type")
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    scale: Literal["log", "linear", "none"] = "none"
    """How far apart the levels are; none: they are names without an order."""
    levels: tuple[str, ...] = Field(min_length=FEWEST_LEVELS, max_length=MOST_LEVELS)
    """The grid of the search, in order; one of them is `default`."""
    default: str
    """What the allocator does without the setting."""
    since: str = ""
    """The first version that has it."""
    until: str = ""
    """The first version that no longer has it."""
    restart: bool = True
    """Whether only a new process reads it."""
    effect: str

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.variable in LISTS) != bool(self.key):
            raise ValueError("key is for a variable with several settings, and only for one")
        if self.kind in {"integer", "size"} and (self.least is None or self.most is None):
            raise ValueError("a number needs least and most")
        if self.kind == "choice" and not self.choices:
            raise ValueError("a choice needs choices")
        if refusal := self.refusal_of_levels(self.levels):
            raise ValueError(refusal)
        return self

    def refusal_of_levels(self, levels: Sequence[str]) -> str:
        """Why these cannot be the levels of a search; empty if they can."""
        if len(set(levels)) < len(levels):
            return f"{self.name} has the same level twice: {', '.join(levels)}"
        if DEFAULT not in levels:
            return f"{self.name} needs the level {DEFAULT} among {', '.join(levels)}"
        if not FEWEST_LEVELS <= len(levels) <= MOST_LEVELS:
            return f"{self.name} needs {FEWEST_LEVELS} to {MOST_LEVELS} levels"
        refusals = (self.refusal_of(each) for each in levels if each != DEFAULT)
        return next(filter(None, refusals), "")

    def refusal_of(self, value: str) -> str:
        """Why the allocator would not understand a value; empty if it would."""
        if value in self._accepted or (self.kind == "time" and TIME.fullmatch(value)):
            return ""
        if self.kind in {"integer", "size"} and re.fullmatch(r"-?[0-9]{1,18}", value):
            if (self.least or 0) <= int(value) <= (self.most or 0):
                return ""
            return f"{self.name} cannot be {value}: it is {self.least} to {self.most}"
        return f"{self.name} cannot be {value!r}: it is {self._domain}"

    @property
    def _accepted(self) -> tuple[str, ...]:
        return ("true", "false") if self.kind == "boolean" else self.choices

    @property
    def _domain(self) -> str:
        if self.kind in {"integer", "size"}:
            what = "bytes, " if self.kind == "size" else ""
            return f"a whole number ({what}{self.least} to {self.most})"
        time = ["a time such as 250ms"] if self.kind == "time" else []
        return " or ".join([*time, *self._accepted])

    def finer_levels(self) -> tuple[tuple[str, int], ...]:
        """Accepted numbers near the levels, each with the place of its level.

        They lie to both sides of a level on the scale. 0 has no logarithm. On the scale `log`, the
        square root of the first positive level is near it. A negative level is a special value.
        """
        numbers = {
            place: int(level)
            for place, level in enumerate(self.levels)
            if self.kind in {"integer", "size"} and level.isdecimal()
        }
        found: dict[str, int] = {}
        for place, number in numbers.items():
            for value in self._near(number, list(numbers.values())):
                text = str(value)
                if value >= 0 and text not in self.levels and not self.refusal_of(text):
                    found.setdefault(text, place)
        return tuple(found.items())

    def _near(self, number: int, numbers: Sequence[int]) -> tuple[int, ...]:
        if self.scale == "linear":
            step = (max(numbers) - min(numbers)) // FINER
            return (number - step, number + step)
        if self.scale == "none":
            return ()
        if number >= FINER:
            return (number // FINER, number * FINER)
        if number:
            return (number * FINER,)
        return tuple(math.isqrt(each) for each in sorted(numbers) if each)[:1]

    def fits(self, version: str) -> bool:
        """Whether an allocator of this version has the setting; an unknown version has all."""
        found = VERSION.search(version)
        if found is None:
            return True
        own = _numbers(found[0])
        return (not self.since or own >= _numbers(self.since)) and (
            not self.until or own < _numbers(self.until)
        )


class SettingsFile(BaseModel):
    """One file of the catalogue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    allocators: tuple[str, ...] = Field(min_length=1)
    """The names in the registry that read these settings."""
    setting: tuple[AllocatorSetting, ...] = Field(min_length=1)


def settings_folder() -> Path:
    """The folder of the files. Raises HeapwrightError."""
    return shipped_folder("catalogue/settings", "settings of allocators")


def read_settings_file(path: Path) -> SettingsFile:
    """Read one file. Raises HeapwrightError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HeapwrightError(f"{path} is not a TOML file: {error}") from error
    try:
        file = SettingsFile.model_validate(document)
    except ValidationError as error:
        first = problems_of(error, document, SettingsFile)[0]
        where = ".".join(str(each) for each in first.keys)
        raise HeapwrightError(f"{path}: {where}: {first.text}", first.hint) from None
    names = [each.name for each in file.setting]
    if twice := [name for name in names if names.count(name) > 1]:
        raise HeapwrightError(f"{path}: the setting {twice[0]} is there twice")
    return file


def settings_of(allocator: str, version: str = "") -> tuple[AllocatorSetting, ...]:
    """The known settings of an allocator in this version. Raises HeapwrightError without any."""
    files = [read_settings_file(path) for path in sorted(settings_folder().glob("*.toml"))]
    found = [file for file in files if allocator in file.allocators]
    if not found:
        known = [name for file in files for name in file.allocators]
        raise HeapwrightError(
            f"heapwright knows no settings of {allocator} to search",
            f"{nearest(allocator, known)} there are settings of {', '.join(known)}".strip(),
        )
    return tuple(each for each in found[0].setting if each.fits(version))


def chosen_settings(
    known: Sequence[AllocatorSetting], texts: Sequence[str]
) -> tuple[AllocatorSetting, ...]:
    """The settings that `NAME` or `NAME=VALUE,VALUE` name, with these values as levels; all without
    texts. Raises HeapwrightError for a misspelt name or value."""
    if not texts:
        return tuple(known)
    by_name = {each.name: each for each in known}
    chosen: dict[str, AllocatorSetting] = {}
    for text in texts:
        name, given, values = text.partition("=")
        if name not in by_name:
            raise HeapwrightError(
                f"there is no setting {name!r}",
                nearest(name, list(by_name)) or f"there are {', '.join(by_name)}",
            )
        if name in chosen:
            raise HeapwrightError(f"--setting {name} is given twice", "write all values in one")
        setting = by_name[name]
        if given:
            levels = tuple(value.strip() for value in values.split(","))
            if refusal := setting.refusal_of_levels(levels):
                raise HeapwrightError(
                    f"--setting {text}: {refusal}",
                    f"write --setting {name}={','.join(setting.levels)}",
                )
            setting = setting.model_copy(update={"levels": levels})
        chosen[name] = setting
    return tuple(chosen.values())


def variables_of(
    settings: Sequence[AllocatorSetting], levels: Sequence[str], environment: Mapping[str, str]
) -> dict[str, str]:
    """The variables that give each setting its level, beside what the environment has already."""
    values: dict[str, list[str]] = {}
    for setting, level in zip(settings, levels, strict=True):
        if level != DEFAULT:
            assign = LISTS[setting.variable][1] if setting.key else ""
            values.setdefault(setting.variable, []).append(f"{setting.key}{assign}{level}")
    return {
        name: beside_what_is_set(name, LISTS.get(name, (",",))[0].join(each), environment)
        for name, each in values.items()
    }


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
