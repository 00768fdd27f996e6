# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Ring buffers as a guest sends them, for tests: made of events that are said in plain words."""

import json
import struct
from collections.abc import Sequence
from typing import Any

DIRECT = 0xFFFF_8880_0000_0000
LAYOUTS: dict[str, tuple[tuple[str, int, int], ...]] = {
    "kmem_cache_alloc": (
        ("call_site", 8, 8),
        ("ptr", 16, 8),
        ("bytes_req", 24, 8),
        ("bytes_alloc", 32, 8),
    ),
    "kmem_cache_free": (("call_site", 8, 8), ("ptr", 16, 8), ("name", 24, 4)),
    "kmalloc": (("call_site", 8, 8), ("ptr", 16, 8), ("bytes_req", 24, 8), ("gfp_flags", 40, 8)),
    "kfree": (("call_site", 8, 8), ("ptr", 16, 8)),
    "mm_page_alloc": (
        ("pfn", 8, 8),
        ("order", 16, 4),
        ("gfp_flags", 24, 8),
        ("migratetype", 32, 4),
    ),
    "mm_page_free": (("pfn", 8, 8), ("order", 16, 4)),
    "mm_page_alloc_extfrag": (("pfn", 8, 8),),
    "print": (("ip", 8, 8), ("buf", 16, 0)),
}
IDS = {name: 300 + number for number, name in enumerate(LAYOUTS)}


def fields() -> list[dict[str, Any]]:
    """The records that say where which field is."""
    found: list[dict[str, Any]] = []
    for event, layout in LAYOUTS.items():
        for name, offset, size in (("common_type", 0, 2), *layout):
            about = {"event": event, "id": IDS[event], "name": name, "offset": offset, "size": size}
            found.append({"record": "field", "at_ns": 1, **about})
    return found


def payload(event: str, **values: int | str) -> bytes:
    """The bytes of an event."""
    data = bytearray(48)
    struct.pack_into("<H", data, 0, IDS[event])
    for name, offset, size in LAYOUTS[event]:
        value = values.get(name, 0)
        if isinstance(value, str):
            text = value.encode() + b"\0"
            if name == "name":
                struct.pack_into("<HH", data, offset, len(data), len(text))
                data += text
            else:
                data[offset:] = text
        elif size:
            data[offset : offset + size] = value.to_bytes(size, "little")
    return bytes(data) + b"\0" * (-len(data) % 4)


def event(delta: int, data: bytes) -> bytes:
    """An event with its head; long ones say their length themselves."""
    words = len(data) // 4
    if words <= 28:
        return struct.pack("<I", words | delta << 5) + data
    return struct.pack("<II", delta << 5, len(data) + 4) + data


def page(time: int, events: Sequence[bytes], flags: int = 0) -> bytes:
    """A page of a ring buffer."""
    data = b"".join(events)
    return struct.pack("<QQ", time, len(data) | flags) + data + b"\0" * (4080 - len(data))


def line(kind: str, **values: Any) -> bytes:
    """A record."""
    about = {"record": kind, "at_ns": 1, **values}
    return json.dumps(about, separators=(",", ":")).encode() + b"\n"


def sent(pages: dict[int, list[bytes]], lost: int = 0) -> bytes:
    """All that a guest sends of its events."""
    found = [json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in fields()]
    for cpu, each in pages.items():
        found.append(line("buffer", cpu=cpu, entries=len(each), lost=lost))
        whole = b"".join(each)
        found += [line("pages", cpu=cpu, bytes=len(whole)), whole]
    return b"".join(found)
