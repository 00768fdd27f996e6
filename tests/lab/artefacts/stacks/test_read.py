# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each format is recognised and read, and a damaged file is refused in words."""

import gzip
import math
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.artefacts.stacks.profile import Amount, StackProfile, functions_at
from heapwright.artefacts.stacks.read import read_stacks, tool_of
from heapwright.base.errors import HeapwrightError
from support.running import ran
from support.tool_files import (
    FILES,
    GPERFTOOLS,
    HEAPTRACK,
    JEMALLOC,
    MASSIF,
    RAW_HEAPTRACK,
    SAMPLES,
    pprof,
)


def read(folder: Path, content: bytes | str) -> StackProfile:
    file = folder / "file"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_stacks(file)


def refused(folder: Path, content: bytes | str) -> str:
    with pytest.raises(HeapwrightError) as error:
        read(folder, content)
    assert error.value.hint
    return error.value.message


def stacks(found: StackProfile, amount: Amount) -> dict[tuple[str, ...], int]:
    """The amount of each chain of functions, outermost first, with the calls inside of it."""
    chains: list[tuple[str, ...]] = []
    amounts = {}
    for number, node in enumerate(found.calls.nodes):
        own = tuple(each.in_words for each in functions_at(found.calls, number)) if number else ()
        chains.append((*chains[node.parent], *own) if number else ())
        amounts[chains[-1]] = amount.of(node)
    return amounts


@pytest.mark.parametrize("tool", FILES)
def test_each_tool_is_recognised(tool: str, tmp_path: Path) -> None:
    file = tmp_path / "anything"
    file.write_bytes(FILES[tool])
    assert tool_of(file) == tool
    assert read_stacks(file).source == tool


@pytest.mark.parametrize("tool", FILES)
def test_a_compressed_file_is_the_same(tool: str, tmp_path: Path) -> None:
    plain = gzip.decompress(FILES[tool]) if tool == "pprof" else FILES[tool]
    assert read(tmp_path, gzip.compress(plain)) == read(tmp_path, plain)


def test_heaptrack_is_read_from_zstd(tmp_path: Path) -> None:
    zstd = shutil.which("zstd") or pytest.skip("no zstd (package zstd)")
    plain = read(tmp_path, HEAPTRACK)
    assert ran([zstd, "-q", tmp_path / "file"]).returncode == 0
    assert read_stacks(tmp_path / "file.zst") == plain
    cut = (tmp_path / "file.zst").read_bytes()[:-20]
    assert "cannot be decompressed" in refused(tmp_path, cut)


@pytest.mark.parametrize("content", [b"", b"{}", b"\x7fELF", b"desc", b"snapshot=0\n"])
def test_other_files_are_of_no_tool(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    assert tool_of(tmp_path / "file") is None


def test_massif_has_the_live_memory_at_the_peak(tmp_path: Path) -> None:
    found = read(tmp_path, MASSIF)
    assert found.known == {Amount.AT_PEAK_BYTES}
    assert found.command == ("./program", "-v")
    assert stacks(found, Amount.AT_PEAK_BYTES) == {
        (): 1000,
        ("main (program.c:9)",): 600,
        ("main (program.c:9)", "grab (program.c:4)"): 600,
        ("libz.so.1",): 300,
        ("libz.so.1", "grab (program.c:4)"): 300,
        ("callers below massif's threshold",): 100,
    }
    assert found.peak_s == 1.5
    assert [tuple(each) for each in found.timeline] == [(0, 0), (1.5, 1000), (2, 400)]
    assert any("24 bytes" in note for note in found.notes)


def test_heaptrack_has_all_amounts(tmp_path: Path) -> None:
    found = read(tmp_path, HEAPTRACK)
    assert found.known == set(Amount)
    grab = ("main (program.c:9)", "main (program.c:10)", "grab (program.c:4)")
    inside = (*grab, "program")
    assert stacks(found, Amount.BYTES) == {(): 148, grab[:1]: 148, grab: 148, inside: 100}
    assert stacks(found, Amount.ALLOCATIONS) == {(): 4, grab[:1]: 4, grab: 4, inside: 1}
    assert stacks(found, Amount.AT_PEAK_BYTES) == {(): 132, grab[:1]: 132, grab: 132, inside: 100}
    assert stacks(found, Amount.AT_PEAK)[()] == 3
    assert stacks(found, Amount.KEPT_BYTES) == {(): 32, grab[:1]: 32, grab: 32, inside: 0}
    assert (found.peak_s, found.duration_s) == (0.016, 0.048)


def test_a_name_that_is_no_utf_8_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, HEAPTRACK.encode().replace(b"s 4 grab", b"s 4 gr\xe4b"))
    assert "gr\ufffdb (program.c:4)" in {each.in_words for each in found.calls.functions}


def test_a_raw_recording_of_heaptrack_has_the_same_amounts(tmp_path: Path) -> None:
    raw, found = read(tmp_path, RAW_HEAPTRACK), read(tmp_path, HEAPTRACK)
    assert [raw.total(each) for each in Amount] == [found.total(each) for each in Amount]
    assert (raw.peak_s, raw.timeline) == (found.peak_s, found.timeline)
    assert [each.path for each in raw.calls.objects] == ["/opt/program"]
    assert [node.address for node in raw.calls.nodes[1:]] == [0x10, 0x20, 0x30]
    assert [each.live_bytes for each in found.timeline] == [0, 32, 132, 116, 32]


def test_strings_of_older_files_of_heaptrack_have_no_length(tmp_path: Path) -> None:
    older = "\n".join(
        f"s {line.split(' ', 2)[2]}" if line.startswith("s ") else line
        for line in HEAPTRACK.replace("v 10400 3", "v 10200").splitlines()
    )
    assert read(tmp_path, older + "\n") == read(tmp_path, HEAPTRACK)


def test_jemalloc_is_scaled_and_its_own_calls_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, JEMALLOC)
    assert found.known == {Amount.KEPT, Amount.KEPT_BYTES, Amount.ALLOCATIONS, Amount.BYTES}
    assert "100" in found.sampling
    # Blocks of 100 bytes are sampled with the probability 1 - 1/e: one stands for 1.582.
    assert found.total(Amount.KEPT) == int(4 / 0.6321205588)
    assert found.total(Amount.KEPT_BYTES) == int(400 / 0.6321205588)
    assert found.total(Amount.BYTES) == int(900 / 0.6321205588)
    assert [each.path for each in found.calls.objects] == ["/opt/program"]
    places = [(node.parent, node.address) for node in found.calls.nodes[1:]]
    assert places == [(0, 0x1020), (1, 0x1010), (0, 0x1030)]


def test_an_exact_profile_of_tcmalloc_is_not_scaled(tmp_path: Path) -> None:
    found = read(tmp_path, GPERFTOOLS)
    assert not found.sampling
    assert found.total(Amount.KEPT_BYTES) == 400
    assert found.total(Amount.ALLOCATIONS) == 9


def test_sampled_profiles_of_tcmalloc_are_scaled(tmp_path: Path) -> None:
    second = read(tmp_path, GPERFTOOLS.replace("heapprofile", "heap_v2/100"))
    assert second.total(Amount.KEPT_BYTES) == int(400 / 0.6321205588)
    first = read(tmp_path, GPERFTOOLS.replace("heapprofile", "heap/400"))
    assert first.total(Amount.KEPT_BYTES) == 800
    assert first.total(Amount.KEPT) == 8


def test_samples_are_estimated_and_their_label_is_the_outermost_call(tmp_path: Path) -> None:
    found = read(tmp_path, SAMPLES)
    small, large = 100 / -math.expm1(-100 / 4096), 4096 / -math.expm1(-1)
    assert found.total(Amount.KEPT_BYTES) == round(2 * small + large)
    assert found.total(Amount.AT_PEAK_BYTES) == round(3 * small + large)
    assert found.total(Amount.BYTES) == round(5 * small + large) + round(small)
    assert found.total(Amount.ALLOCATIONS) == round(5 * small / 100 + large / 4096) + round(
        small / 100
    )
    assert not found.at_end
    live = stacks(found, Amount.KEPT_BYTES)
    assert live["[tenant 7]", "program+0x1030", "program+0x1020"] == round(2 * small + large)
    assert live["0x99998", "program+0x1020"] == 0
    places = range(len(found.calls.nodes))
    low, high = found.bounds(Amount.KEPT_BYTES, found.total(Amount.KEPT_BYTES), places) or (0, 0)
    assert low < found.total(Amount.KEPT_BYTES) < high
    assert any("2 samples have no room" in note for note in found.notes)


def test_pprof_has_the_amounts_that_it_names(tmp_path: Path) -> None:
    found = read(tmp_path, pprof())
    assert found.known == {Amount.KEPT, Amount.KEPT_BYTES}
    assert stacks(found, Amount.KEPT_BYTES) == {(): 300, ("main (m.go:7)",): 300}
    assert not found.at_end


def test_a_profile_of_time_is_no_heap_profile(tmp_path: Path) -> None:
    strings = ("", "samples", "count", "cpu", "nanoseconds", "main", "m.go")
    assert "no heap profile: its samples have samples, cpu" in refused(tmp_path, pprof(strings))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (MASSIF.replace("n0: 600 0x", "n0: 6000 0x"), "line 22: callers have more bytes"),
        (MASSIF.replace("n0: 600 0x", "n0: 9x 0x"), "a line of a tree is expected"),
        (MASSIF.replace("n2: 900", "n3: 900"), "wrong depth"),
        (MASSIF.replace("mem_heap_B=1000", f"mem_heap_B={'9' * 30}"), "is no number"),
        (MASSIF.replace("mem_heap_B=1000", f"mem_heap_B={'9' * 19}"), "is too large"),
        (MASSIF[: MASSIF.index("  n0: 300")], "within a tree of calls"),
        (MASSIF[: MASSIF.index("snapshot=1")], "without a snapshot that has call stacks"),
        (MASSIF.replace("time_unit: ms", "time_unit: years"), "an unknown unit of time"),
        (HEAPTRACK.replace("+ 1", "+ 7"), "names an allocation that is not defined"),
        (HEAPTRACK.replace("- 1", "- 0\n- 0\n- 0"), "frees a block that is not live"),
        (HEAPTRACK.replace("t 2 1", "t 9 1"), "names a call that is not defined"),
        (HEAPTRACK.replace("s 4 grab", "s 5 grab"), "the string has another length"),
        (HEAPTRACK.replace("# a", "Q a"), "an unknown kind of line"),
        (HEAPTRACK.replace("v 10400 3", "v 10400 9"), "a version of heaptrack"),
        (RAW_HEAPTRACK.replace("+ 10 2 aa0", "+ 10 2"), "numbers are missing"),
        (RAW_HEAPTRACK.replace("+ 10 2 aa0", "+ 10 9 aa0"), "names a stack that is not defined"),
        (RAW_HEAPTRACK.replace("1000 0 100", "1000 0"), "two numbers for each segment"),
        (RAW_HEAPTRACK.replace("v 10400 3", "v 10200"), "a raw recording of an old heaptrack"),
        (HEAPTRACK[:36], "without any allocation"),
        (JEMALLOC[: JEMALLOC.index("MAPPED")], "before its mappings"),
        (JEMALLOC.replace("  t*: 3: 300 [6: 600]\n", ""), "the stack before has no amounts"),
        (JEMALLOC.replace("heap_v2/100", "heap_v2/"), "is no number"),
        (JEMALLOC.replace("10000-20000", "10000+20000"), "no mapping"),
        (JEMALLOC.replace("0x10031", "0xfffffffffffffffff"), "is too large"),
        (GPERFTOOLS.replace("@ heapprofile", "@ growth"), "a profile of the type growth"),
        (GPERFTOOLS.replace("[     6:", "[     x:"), "an unknown kind of line"),
        (
            GPERFTOOLS.replace("\nMAPPED", "\n#\t0x1\tmain.main\nMAPPED"),
            "Go's heap profile as text",
        ),
        (SAMPLES.replace("samples 1", "samples 2"), "an unknown version"),
        (SAMPLES.replace("mean 4096\n", ""), "no complete head"),
        (SAMPLES.replace("mean 4096", "mean 0"), "no complete head"),
        (SAMPLES.replace("reason signal", "reason x"), "no complete head"),
        (SAMPLES.replace("label 1", "label 3"), "its label is unknown"),
        (SAMPLES.replace(" 100 2 5 3", " 100 2 5"), "expected a size and three numbers"),
        (SAMPLES.replace(" 100 0 1 0\n", ""), "the stack before has no amounts"),
        (SAMPLES.replace("@ 1 0x10021 0x10031\n", ""), "amounts without a stack"),
        (SAMPLES.replace("lost 2", "gained 2"), "an unknown kind of line"),
        (SAMPLES[: SAMPLES.index("MAPPED")], "before its mappings"),
        (pprof(values=(1, 2, 3)), "another number of values"),
        (pprof(values=(1, 1 << 63)), "negative amounts"),
        (pprof(values=(1, 1 << 60)), "too large"),
        (pprof(strings=("", "a")), "an entry of a table that is not there"),
        (pprof()[:-3], "ends behind the end"),
        (gzip.compress(pprof(), mtime=0)[:-12], "cannot be decompressed"),
    ],
)
def test_a_damaged_file_is_refused(content: bytes | str, words: str, tmp_path: Path) -> None:
    assert words in refused(tmp_path, content)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="cannot be read"):
        tool_of(tmp_path / "nothing")


def test_amounts_of_all_stacks_have_a_limit(tmp_path: Path) -> None:
    line = f"1: {(1 << 53) - 1} [ 0: 0] @ 0x10011\n"
    head, _, rest = GPERFTOOLS.partition("\n")
    assert "more than any memory" in refused(tmp_path, f"{head}\n{line * 1100}{rest}")


@st.composite
def changed(draw: st.DrawFn) -> bytes:
    """One of the files with a part removed, doubled, or replaced by other bytes."""
    content = draw(st.sampled_from([*FILES.values(), RAW_HEAPTRACK.encode(), pprof()]))
    begin = draw(st.integers(0, len(content)))
    end = draw(st.integers(begin, min(len(content), begin + 40)))
    part = draw(st.binary(max_size=8) | st.just(content[begin:end] * 2) | st.just(b"9" * 25))
    return content[:begin] + part + content[end:]


@given(st.one_of(changed(), st.binary(max_size=200)))
def test_any_change_is_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_bytes(content)
        told = ""
        try:
            if tool_of(file) is not None:
                read_stacks(file)
        except HeapwrightError as error:
            told = error.message
        assert not told or str(file) in told
