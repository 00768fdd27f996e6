# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Small heap profiles in the formats of other tools, written by hand for the tests of readers."""

import gzip
from collections.abc import Sequence

from heapwright.base.protobuf import Message

MAPPINGS = """
MAPPED_LIBRARIES:
10000-20000 r-xp 00001000 fe:00 7 /opt/program
30000-40000 r-xp 00000000 fe:00 8 /usr/lib/libjemalloc.so.2
50000-60000 rw-p 00000000 00:00 0 [heap]
"""
MASSIF = """desc: --threshold=5
cmd: ./program -v
time_unit: ms
#-----------
snapshot=0
#-----------
time=0
mem_heap_B=0
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
#-----------
snapshot=1
#-----------
time=1500
mem_heap_B=1000
mem_heap_extra_B=24
mem_stacks_B=0
heap_tree=peak
n2: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n2: 900 0x109176: grab (program.c:4)
  n0: 600 0x10919F: main (program.c:9)
  n0: 300 0x1091BD: ??? (in /usr/lib/libz.so.1)
 n0: 100 in 3 places, all below massif's threshold (5.00%)
#-----------
snapshot=2
#-----------
time=2000
mem_heap_B=400
mem_heap_extra_B=8
mem_stacks_B=0
heap_tree=empty
"""
HEAPTRACK = """v 10400 3
X ./program -v
I 1000 5e2990
s c /opt/program
s 4 main
s 9 program.c
s 4 grab
i 1010 1 2 3 9
t 1 0
i 1020 1 4 3 4 2 3 a
t 2 1
i 1030
t 3 2
# a comment
a 10 2
+ 0
+ 0
c 10
a 64 3
+ 1
- 0
c 20
- 1
+ 0
c 30
""".replace("i 1030\n", "i 1030 1\n")
"""Two blocks of 16 bytes by grab, then one of 100 by unnamed code: 132 bytes at the peak. Two of 16
are live at the end."""
RAW_HEAPTRACK = """v 10400 3
x c /opt/program
X ./program -v
m 1 -
m 1 x 1000 0 100
t 1010 0
t 1020 1
t 1030 2
+ 10 2 aa0
+ 10 2 ab0
c 10
+ 64 3 ac0
- aa0
- 7
c 20
- ac0
+ 10 2 ad0
c 30
"""
"""The same without names."""
JEMALLOC = f"""heap_v2/100
  t*: 4: 400 [9: 900]
  t0: 4: 400 [9: 900]
@ 0x30010 0x10011 0x10021
  t*: 3: 300 [6: 600]
  t0: 3: 300 [6: 600]
@ 0x10031
  t*: 1: 100 [3: 300]
  t0: 1: 100 [3: 300]
{MAPPINGS}"""
GPERFTOOLS = f"""heap profile:      4:      400 [     9:      900] @ heapprofile
     3:      300 [     6:      600] @ 0x10011 0x10021
     1:      100 [     3:      300] @ 0x10031
{MAPPINGS}"""


def message(*parts: tuple[int, int | bytes]) -> bytes:
    """A message of these fields."""
    out = Message()
    for field, value in parts:
        if isinstance(value, bytes):
            out.whole(field, value)
        else:
            out.integer(field, value)
    return out.content()


def pprof(
    strings: Sequence[str] = ("", "inuse_objects", "count", "inuse_space", "bytes", "main", "m.go"),
    values: Sequence[int] = (2, 300),
    *more: tuple[int, bytes],
) -> bytes:
    """A profile with one sample in main, line 7."""
    sample = Message()
    sample.packed(1, [1])
    sample.packed(2, values)
    line = message((1, 1), (2, 7))
    return message(
        (1, message((1, 1), (2, 2))),
        (1, message((1, 3), (2, 4))),
        (2, sample.content()),
        (4, message((1, 1), (3, 4096), (4, line))),
        (5, message((1, 1), (2, 5), (4, 6))),
        *((6, text.encode()) for text in strings),
        *more,
    )


PPROF = gzip.compress(pprof(), mtime=0)
SAMPLES = (
    """heapwright samples 1
mean 4096
process 4711
program /opt/program
reason signal
lost 2
label 1 tenant 7
@ 1 0x10021 0x10031
 100 2 5 3
 4096 1 1 1
@ 0 0x10021 0x99999
 100 0 1 0"""
    + MAPPINGS
)
FILES: dict[str, bytes] = {
    "massif": MASSIF.encode(),
    "heaptrack": HEAPTRACK.encode(),
    "jemalloc": JEMALLOC.encode(),
    "TCMalloc": GPERFTOOLS.encode(),
    "pprof": PPROF,
    "heapwright samples": SAMPLES.encode(),
}
"""By the name of the tool."""
