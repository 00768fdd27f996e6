# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Variables of the environment that make an allocator give memory back, and their values.

glibc reads a setting from a variable of its own or from GLIBC_TUNABLES, and the latter is stronger.
"""

from collections.abc import Mapping

TUNABLES = "GLIBC_TUNABLES"
OF_TUNABLE = {
    "glibc.malloc.trim_threshold": "MALLOC_TRIM_THRESHOLD_",
    "glibc.malloc.arena_max": "MALLOC_ARENA_MAX",
    "glibc.malloc.mmap_threshold": "MALLOC_MMAP_THRESHOLD_",
}
LISTS = {"MALLOC_CONF": (",", ":"), TUNABLES: (":", "="), "HEAPWRIGHT_GRANARY": (",", "=")}
"""Variables with several options: what separates options, and an option from its value."""
VARIABLES = (
    *OF_TUNABLE.values(),
    TUNABLES,
    "MALLOC_CONF",
    "TCMALLOC_AGGRESSIVE_DECOMMIT",
    "MIMALLOC_DECOMMIT_DELAY",
    "MIMALLOC_PAGE_RESET",
)


def allocator_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of `VARIABLES` that are set, with a value of one line."""
    return {
        name: environment[name]
        for name in VARIABLES
        if name in environment and "\n" not in environment[name]
    }


def is_in_force(name: str, value: str, environment: Mapping[str, str]) -> bool:
    """Whether the environment sets the variable to this value, or to a smaller number."""
    if name == TUNABLES:
        return set(value.split(":")) <= set(environment.get(TUNABLES, "").split(":"))
    found = _with_tunables(environment).get(name)
    if found is None:
        return False
    if name == "MALLOC_CONF":
        return set(value.split(",")) <= set(found.split(","))
    wanted, had = _number(value), _number(found)
    if name in OF_TUNABLE.values() and wanted is not None and had is not None:
        return 0 < had <= wanted
    return found == value


def beside_what_is_set(name: str, value: str, environment: Mapping[str, str]) -> str:
    """The value to set: options that the variable has already are kept."""
    found = environment.get(name, "")
    if name not in LISTS or not found:
        return value
    between, assign = LISTS[name]
    ours = {option.split(assign)[0] for option in value.split(between)}
    kept = [option for option in found.split(between) if option.split(assign)[0] not in ours]
    return between.join([*kept, value])


def _with_tunables(environment: Mapping[str, str]) -> dict[str, str]:
    pairs = (each.partition("=") for each in environment.get(TUNABLES, "").split(":"))
    tuned = {OF_TUNABLE[name]: value for name, _, value in pairs if name in OF_TUNABLE}
    return {**environment, **tuned}


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
