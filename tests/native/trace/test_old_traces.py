# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A trace from before there were marks is read as before, and its moments are known.

The program allocated 100, 200, 300 and 400 bytes, made 5,000 of the first block, and freed the
second and the third.
"""

import base64
import zlib
from pathlib import Path

import pytest

from heapwright.artefacts.profile.asked_moments import AskedMoments
from heapwright.artefacts.trace.file import check_trace, trace_info
from heapwright.artefacts.trace.frame import open_trace
from heapwright.base.errors import HeapwrightError
from heapwright.profile.run import profile_trace

BEFORE_MARKS = (
    "c-rmPu}i~16bA5jm$a2oq%?w(xq^cj5mAsXDoTojP!ci}q)0|X9dr`}aS%%(baQae-hz(0DRk`YsDk|q>Y#V^3bi"
    "UIh>PD3ULNmpTp*b~$9Id%t7{e`B3<K*GSnkyO;qX1H|2cZeB8?EMC*%YJ$`tapf7aV+qH!_-"
    "=goD9qK>CRDHIWE)EF*000000N~$q{FMz({KLL1N^TDl+1}jmeNiy>Jb83>Ds%Rd+Pw&uDsK;-"
    "Pm4;bEN<_GyLMO!?aEFtBOmIFd{<`R{(Liwp925@00000@QeAM4ds8C;paq8iMo&9a=6}jpU11Is^Ns)Vj-"
    "7sqxS8!K@^bgHAZiUym@Pyr9ERRVk0G<ENgds^Z3Lhx4!R=TlnSx00000004jO6$<$}b^"
)
"""The whole file, compressed."""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.trace"
    path.write_bytes(zlib.decompress(base64.b85decode(BEFORE_MARKS)))
    return path


def test_all_of_it_can_be_read(old: Path) -> None:
    assert check_trace(old).fault_count == 0
    info = trace_info(old)
    assert (info.version, info.events, info.mark_count, info.marks) == (1, 7, 0, ())
    assert open_trace(old).collect()["size"].to_list() == [100, 200, 300, 400, 5000, 0, 0]


def test_its_moments_are_known(old: Path) -> None:
    profile = profile_trace(old, asked=AskedMoments(("peak", "end")))
    assert [moment.live_bytes for moment in profile.moments] == [5900, 5400]
    assert profile.marks == ()


def test_a_mark_that_it_does_not_have_is_refused(old: Path) -> None:
    with pytest.raises(HeapwrightError, match="the trace has no marks"):
        profile_trace(old, asked=AskedMoments(("loaded",)))
