# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The innermost inlined function at an address, by the debug information itself.

addr2line (binutils 2.40) names the outer function in place of an inlined one that has no linkage
name, such as a static function of C++. It may print the linkage name of the outer function. Only
such addresses need this module. It reads the tree of one unit of compilation, along the entries
that contain the address.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

INLINED = "DW_TAG_inlined_subroutine"
SCOPES = (INLINED, "DW_TAG_subprogram", "DW_TAG_lexical_block", "DW_TAG_namespace")


def names(path: Path, addresses: Iterable[int]) -> dict[int, str]:
    """The names that the file tells; others are missing."""
    try:
        with path.open("rb") as file:
            dwarf = ELFFile(file).get_dwarf_info()
            units = dwarf.get_aranges()
            found = {}
            for address in addresses:
                at = None if units is None else units.cu_offset_at_addr(address)
                if at is not None:
                    die = _innermost(dwarf, dwarf.get_CU_at(at).get_top_DIE(), address)
                    name = None if die is None else _name(die)
                    if name:
                        found[address] = name
            return found
    except (OSError, ELFError, DWARFError, KeyError, ValueError, AttributeError):
        return {}


def _innermost(dwarf: DWARFInfo, scope: DIE, address: int) -> DIE | None:
    """The innermost inlined function that contains the address."""
    for child in scope.iter_children():
        namespace = child.tag == "DW_TAG_namespace"
        if child.tag not in SCOPES or not (namespace or _contains(dwarf, child, address)):
            continue
        inner = _innermost(dwarf, child, address)
        if inner is not None or not namespace:
            return inner or (child if child.tag == INLINED else None)
    return None


def _contains(dwarf: DWARFInfo, die: DIE, address: int) -> bool:
    return any(begin <= address < end for begin, end in _ranges(dwarf, die))


def _ranges(dwarf: DWARFInfo, die: DIE) -> Iterator[tuple[int, int]]:
    low, high = die.attributes.get("DW_AT_low_pc"), die.attributes.get("DW_AT_high_pc")
    if low is not None and high is not None:
        length = high.value if high.form != "DW_FORM_addr" else high.value - low.value
        yield low.value, low.value + length
    elif "DW_AT_ranges" in die.attributes:
        unit, lists = die.cu, dwarf.range_lists()
        assert isinstance(unit, CompileUnit)
        base = _base(unit)
        offset = die.attributes["DW_AT_ranges"].value
        for entry in lists.get_range_list_at_offset(offset, unit) if lists else ():
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
            else:
                shift = 0 if entry.is_absolute else base
                yield entry.begin_offset + shift, entry.end_offset + shift


def _base(unit: CompileUnit) -> int:
    low = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    return low.value if low is not None else 0


def _name(die: DIE) -> str | None:
    """Of the function that it is a copy of."""
    own = die.attributes.get("DW_AT_linkage_name")
    for reference in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if own is None and reference in die.attributes:
            return _name(die.get_DIE_from_attribute(reference))
    own = own or die.attributes.get("DW_AT_name")
    return own.value.decode("utf-8", "replace") if own is not None else None
