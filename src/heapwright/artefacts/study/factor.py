# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Factors of a study and their levels: the part of a study file below `[factors]`.

A level is written as a value (`4`, `"peak"`). Or it is a table with a name and its further values
(`{ name = "16..64", low = 16, high = 64 }`). Either way it has a name, by which it is known in the
results; `Factor.items` has them in one form. The words that a table may use for itself are fields
of `LevelTable`; every other key is for templates and constraints.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from heapwright.artefacts.models import InputModel

Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Number = StrictInt | StrictFloat
Role = Literal["allocator", "cpus", "parameter"]

ALLOCATOR: Role = "allocator"
CPUS: Role = "cpus"
PARAMETER: Role = "parameter"


class LevelTable(BaseModel):
    """A level with a name of its own; keys that are not listed here are its values in templates."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)
    __pydantic_extra__: dict[str, Scalar] = Field(init=False)

    name: StrictStr
    value: Annotated[
        Number | None, Field(description="The number that stands for the level where one is needed")
    ] = None
    set: Annotated[
        dict[str, StrictStr], Field(description="Variables of the environment under this level")
    ] = {}
    prefix: Annotated[
        tuple[StrictStr, ...],
        Field(description="Words before the command: another loader, a wrapper"),
    ] = ()
    allocator: Annotated[
        StrictStr | None,
        Field(description="In the factor that chooses the allocator: a name or a path; null: name"),
    ] = None
    missing: Annotated[
        StrictStr,
        Field(
            description="How to install this allocator. Where it is unknown, the level is dropped "
            "with this text. Without the text, an unknown name is a mistake"
        ),
    ] = ""
    needs: Annotated[
        tuple[StrictStr, ...],
        Field(
            description="Templates of what must be here: a program, a path, python:MODULE; where "
            "one is not, the level is dropped and this is said"
        ),
    ] = ()
    preload: Annotated[
        StrictBool,
        Field(
            description="false: the program has this allocator in itself (another C library, a "
            "patched copy); nothing is preloaded and nothing can be proven"
        ),
    ] = True


@dataclass(frozen=True, slots=True)
class Level:
    """A level in the one form in which the rest of the program sees it."""

    name: str
    value: bool | int | float | str | None
    """What it was written as, or the `value` of its table; None: it has none."""
    keys: dict[str, bool | int | float | str] = field(default_factory=dict)
    """What templates and constraints can name behind a dot."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables; the texts are templates, as is the prefix."""
    prefix: tuple[str, ...] = ()
    allocator: str = ""
    """In the allocators' factor: a name of the registry, or a path."""
    preload: bool = True
    missing: str = ""
    """The hint for an unknown allocator; empty: an unknown allocator is an error."""
    needs: tuple[str, ...] = ()
    """Programs, paths and modules without which there is no such level; templates."""

    @property
    def plain(self) -> bool | int | float | str:
        """What `{factor}` in a template and `factor` in a constraint stand for."""
        return self.name if self.value is None else self.value

    @property
    def number(self) -> float | None:
        """The level as a quantity; None: it is not one."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            return None
        return float(self.value)


class Factor(InputModel):
    """One thing that is varied."""

    levels: Annotated[tuple[Scalar | LevelTable, ...], Field(min_length=1)]
    role: Annotated[
        Role | None,
        Field(
            description="allocator: chooses what is preloaded; cpus: number of processors that a "
            "run is confined to; null: allocator for the factor `allocator`, else parameter"
        ),
    ] = None
    baseline: Annotated[
        Scalar | None, Field(description="The level that ratios refer to; null: none is special")
    ] = None
    variable: Annotated[
        StrictStr | None,
        Field(description="The variable of the environment that is set to the level: a knob"),
    ] = None
    quantitative: Annotated[
        StrictBool | None,
        Field(description="Levels are quantities; null: if every level is a number"),
    ] = None
    unit: StrictStr = ""
    title: Annotated[StrictStr, Field(description="For figures; empty: the factor's name")] = ""

    @property
    def items(self) -> tuple[Level, ...]:
        """The levels in one form, in the order of the file."""
        return tuple(self._level(each) for each in self.levels)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(level_name(each) for each in self.levels)

    @property
    def baseline_name(self) -> str | None:
        return None if self.baseline is None else scalar_text(self.baseline)

    @property
    def is_quantitative(self) -> bool:
        if self.quantitative is not None:
            return self.quantitative
        return all(each.number is not None for each in self.items)

    def _level(self, written: Scalar | LevelTable) -> Level:
        if isinstance(written, LevelTable):
            return Level(
                written.name,
                written.value,
                dict(written.__pydantic_extra__),
                dict(written.set),
                written.prefix,
                written.allocator or written.name,
                written.preload,
                written.missing,
                written.needs,
            )
        text = scalar_text(written)
        literal = text.replace("{", "{{").replace("}", "}}")
        environment = {self.variable: literal} if self.variable else {}
        return Level(text, written, environment=environment, allocator=text)


def scalar_text(value: bool | int | float | str) -> str:
    """The text of a value in a command line and as the name of a level."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def level_name(written: Scalar | LevelTable) -> str:
    return written.name if isinstance(written, LevelTable) else scalar_text(written)
