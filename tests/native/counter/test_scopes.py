# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets around blocks of code, by the headers for C and GoogleTest."""

import shutil

import pytest

from support.running import ran

from .bench import Compiled, Counted

SCOPES = """
#include <heapwright/c/limit.h>
static void use(size_t bytes, int times) {
    for (int i = 0; i < times; ++i) free(malloc(bytes));
}
static void *kept;
int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    use(10, 3);
    HEAPWRIGHT_LIMIT_ALLOCATIONS(0) { if (!strcmp(which, "allocations")) use(1, 2); }
    HEAPWRIGHT_LIMIT_PEAK(2000) {
        HEAPWRIGHT_LIMIT_BYTES(1000) { use(!strcmp(which, "bytes") ? 1001 : 1000, 1); }
        use(2000, 5);
        if (!strcmp(which, "peak")) use(2001, 1);
    }
    HEAPWRIGHT_LIMIT_KEPT(0) {
        use(5000, 1);
        if (!strcmp(which, "kept")) kept = malloc(7);
    }
    puts(heapwright_limit_counting() ? "counting" : "not counting");
    free(kept);
    return 0;
}
"""
GOOGLETEST = """
#include <heapwright/c/limit_googletest.h>
#include <stdexcept>
#include <vector>
TEST(Limit, IsKept) {
    HEAPWRIGHT_SKIP_UNLESS_COUNTING();
    HEAPWRIGHT_EXPECT_ALLOCATIONS(1) { std::vector<int> one(10); }
    HEAPWRIGHT_EXPECT_PEAK(400) { std::vector<int> one(100); }
}
TEST(Limit, IsExceeded) {
    HEAPWRIGHT_EXPECT_ALLOCATIONS(1) { std::vector<int> one(10), two(10); }
}
TEST(Limit, IsCheckedAfterAnException) {
    EXPECT_THROW({ HEAPWRIGHT_EXPECT_BYTES(9) { std::vector<char> ten(10); throw 1; } }, int);
}
"""


def test_kept_budgets_change_nothing(counted: Counted, compiled: Compiled) -> None:
    done, _ = counted(compiled(SCOPES))
    assert (done.returncode, done.stdout, done.stderr) == (0, "counting\n", "")


@pytest.mark.parametrize(
    ("which", "line", "fault"),
    [
        ("allocations", 10, "allocations: 2, at most 0"),
        ("bytes", 12, "bytes: 1001, at most 1000"),
        ("peak", 11, "peak: 2001, at most 2000"),
        ("kept", 16, "kept: 7, at most 0"),
    ],
)
def test_an_exceeded_budget_ends_the_program_with_its_place(
    counted: Counted, compiled: Compiled, which: str, line: int, fault: str
) -> None:
    done, _ = counted(compiled(SCOPES), which)
    assert done.returncode == -6
    assert done.stderr.rstrip().endswith(f"program.c:{line}: {fault}")


def test_without_the_library_budgets_are_not_checked_and_one_line_says_so(
    compiled: Compiled,
) -> None:
    done = ran([compiled(SCOPES), "allocations"])
    assert (done.returncode, done.stdout) == (0, "not counting\n")
    (line,) = done.stderr.splitlines()
    assert "program.c:10: this budget and others are not checked" in line
    assert "heapwright limit -- PROGRAM" in line


def test_the_header_is_one_of_c_and_of_cpp(compiled: Compiled) -> None:
    assert compiled("#include <heapwright/c/limit.h>\nint main(void) { return 0; }", "-std=c99")
    assert compiled("#include <heapwright/c/limit.h>\nint main() {}", "-std=c++17", compiler="g++")


@pytest.mark.compiles
def test_googletest_reports_an_exceeded_budget_as_a_failure(
    counted: Counted, compiled: Compiled
) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed (package g++)")
    program = compiled(GOOGLETEST, "-lgtest", "-lgtest_main", "-pthread", compiler="g++")
    done, _ = counted(program)
    assert done.returncode == 1
    assert "[       OK ] Limit.IsKept" in done.stdout
    assert "allocations: 2, at most 1" in done.stdout
    assert ", at most 9" in done.stdout  # the exception has memory as well
    assert done.stdout.count("[  FAILED  ] Limit.IsExceeded") >= 1
    alone = ran([program])
    assert "[  SKIPPED ] Limit.IsKept" in alone.stdout
    assert alone.returncode == 0
