# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes of a command were recorded, and what may be concluded from the recording."""

from heapwright.artefacts.run.coverage import Cause, Coverage, CoveredProcess


def process(
    name: str, cpu_s: float, cause: Cause | None = None, *, count: int = 1, own_heap: str = ""
) -> CoveredProcess:
    return CoveredProcess(
        pid=1,
        parent_pid=0,
        executable=f"/opt/{name}",
        count=count,
        cpu_s=cpu_s,
        recorded=cause is None,
        cause=cause,
        own_heap=own_heap,
    )


def coverage(*processes: CoveredProcess, unclaimed_s: float = 0.0) -> Coverage:
    known = sum(each.cpu_s for each in processes)
    return Coverage(cpu_s=known + unclaimed_s, unclaimed_cpu_s=unclaimed_s, processes=processes)


def test_a_command_that_was_recorded_whole_has_no_gap() -> None:
    found = coverage(process("server", 3.0))
    assert found.is_complete
    assert found.unrecorded_share == 0
    assert found.gap() == ""


def test_a_program_with_its_own_malloc_is_a_gap() -> None:
    found = coverage(process("browser", 0.1), process("tab", 9.9, Cause.OWN_MALLOC, count=38))
    assert not found.is_complete
    assert found.gap() == (
        "99.0% of the processor time was not recorded: tab (38 processes) provides its own malloc"
    )


def test_a_command_of_which_nothing_was_recorded_allows_no_conclusion_however_short() -> None:
    found = coverage(process("static", 0.001, Cause.STATIC))
    assert not found.is_complete
    assert "static is statically linked" in found.gap()


def test_a_helper_below_the_floors_does_not_matter() -> None:
    assert coverage(process("a", 10.0), process("b", 0.09, Cause.STATIC)).is_complete
    assert coverage(process("a", 0.1), process("b", 0.015, Cause.STATIC)).is_complete
    assert not coverage(process("a", 0.1), process("b", 0.05, Cause.STATIC)).is_complete


def test_time_that_no_process_claimed_counts_as_unrecorded() -> None:
    found = coverage(process("a", 1.0), unclaimed_s=1.0)
    assert not found.is_complete
    assert found.gap().startswith("50.0% of the processor time was not recorded")


def test_only_the_first_gaps_are_named() -> None:
    many = [process(f"p{i}", 1.0, Cause.STATIC) for i in range(5)]
    assert coverage(*many).gap().endswith("p2 is statically linked; 2 more processes")


def test_a_malloc_of_another_library_is_named() -> None:
    other = process("db", 5.0, Cause.OWN_MALLOC).model_copy(
        update={"provider": "/usr/lib/libjemalloc.so.2"}
    )
    assert "db gets malloc from libjemalloc.so.2" in coverage(other).gap()


def test_a_runtime_with_its_own_heap_is_reported_once_with_advice() -> None:
    found = coverage(
        process("python3.11", 1.0, own_heap="CPython"),
        process("python3.11", 1.0, own_heap="CPython"),
    )
    (told,) = found.own_heaps()
    assert told.startswith("python3.11 keeps objects in a heap of CPython (pymalloc arenas)")
    assert "PYTHONMALLOC=malloc" in told


def test_it_is_read_back_as_it_was_written() -> None:
    found = coverage(process("a", 1.0), process("b", 0.5, Cause.NOT_FOLLOWED))
    assert Coverage.model_validate_json(found.model_dump_json()) == found
