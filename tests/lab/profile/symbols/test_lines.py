# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answers of addr2line become functions with their places."""

from heapwright.profile.symbols.lines import parsed

ANSWER = """0x10
_dl_start_user
:?
0x20
inner
/src/a.c:7 (discriminator 2)
outer
??:?
0x30
??
??:0
"""


def test_a_place_that_is_not_known_is_left_out() -> None:
    found = dict(parsed(ANSWER))
    assert [(each.name, each.file, each.line) for each in found[0x10]] == [
        ("_dl_start_user", "", 0)
    ]
    assert [(each.name, each.file, each.line) for each in found[0x20]] == [
        ("outer", "", 0),
        ("inner", "/src/a.c", 7),
    ]
    assert 0x30 not in found
