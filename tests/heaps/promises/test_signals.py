# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Signal handlers may allocate at any point, and a program sees its handlers as without granary.

The C library is the control in what it promises as well.
"""

import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from .building import PROMISING, TOLD, assert_quiet_success, compiled, library, run

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("signals")


@pytest.fixture(params=PROMISING)
def promising(request: pytest.FixtureRequest) -> str:
    return library(request.param)


@pytest.fixture(params=["glibc", *PROMISING])
def any_allocator(request: pytest.FixtureRequest) -> str:
    return library(request.param)


@pytest.mark.parametrize(
    ("scene", "count"),
    [
        ("storm", 1_000_000),
        pytest.param("storm", 3_000_000, marks=pytest.mark.slow),
        ("timed-jumps", 2_000),
    ],
)
def test_handlers_allocate_whatever_they_interrupt(
    folder: Path, promising: str, scene: str, count: int
) -> None:
    assert_quiet_success([str(compiled(folder, "handlers.c")), scene, str(count)], promising)


@pytest.mark.parametrize("told", TOLD)
def test_handlers_may_jump_out_of_a_request(folder: Path, told: str) -> None:
    """No standard allows it, shells do it: what is served at once may be left at any step."""
    command = [str(compiled(folder, "handlers.c")), "wild-jumps", "2000"]
    assert_quiet_success(command, library(told))


@pytest.mark.parametrize(
    ("scene", "count"),
    [
        ("jumps", 300_000),
        pytest.param("jumps", 1_000_000, marks=pytest.mark.slow),
        ("ends", 500),
    ],
)
def test_handlers_may_jump_out_or_end_their_thread(
    folder: Path, any_allocator: str, scene: str, count: int
) -> None:
    assert_quiet_success([str(compiled(folder, "handlers.c")), scene, str(count)], any_allocator)


@pytest.mark.parametrize(
    ("scene", "count"), [("answers", 1), ("coroutines", 100_000), ("vforks", 300)]
)
def test_programs_see_what_they_set(
    folder: Path, any_allocator: str, scene: str, count: int
) -> None:
    program = str(compiled(folder, "dispositions.c"))
    assert_quiet_success([program, scene, str(count)], any_allocator)


SUBPROCESSES = """
    import signal, subprocess, threading

    seen = 0
    def handler(number, frame):
        global seen
        seen += 1
    signal.signal(signal.SIGUSR1, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    signal.signal(signal.SIGALRM, handler)
    wrong = []
    def start():
        for i in range(40):
            done = subprocess.run(["/bin/echo", str(i)], capture_output=True, restore_signals=True)
            if done.returncode or done.stdout != f"{i}\\n".encode():
                wrong.append(done)
    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        signal.raise_signal(signal.SIGUSR1)
        list(range(1000))
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert not wrong and seen > 0
    # What Python ignores, its children do not; it itself still does.
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGUSR1) is handler
"""


def test_python_starts_children_in_threads(any_allocator: str) -> None:
    assert_quiet_success([sys.executable, "-c", textwrap.dedent(SUBPROCESSES)], any_allocator)


BASH = """
    n=0
    trap 'n=$((n+1))' USR1
    trap 'n=$((n+1)); x="$x$(echo y)"' USR2
    for i in $(seq 200); do
        kill -USR1 $$
        y=$(for j in 1 2 3; do echo "$i $j"; done | sort -r | head -1)
        kill -USR2 $$
        [ "$y" = "$i 3" ] || { echo "wrong: $y"; exit 1; }
    done
    trap - USR1
    (trap '' TERM; kill -TERM $BASHPID; exit 7); [ $? = 7 ] || exit 2
    [ $n = 400 ] && [ ${#x} = 200 ]
"""
PERL = """
    use strict; use warnings;
    my ($n, %seen) = (0);
    local $SIG{USR1} = sub { $n++; $seen{$n} = "x" x ($n % 500); };
    local $SIG{ALRM} = sub { die "out\\n" };
    for my $i (1 .. 2000) { kill 'USR1', $$; my @a = map { "$_" x 10 } 1 .. 50; }
    eval { alarm 1; 1 while length("y" x 100); }; $@ eq "out\\n" or die "no alarm: $@";
    for (1 .. 20) { my $out = `echo $_`; $out eq "$_\\n" or die "wrong: $out"; }
    $n == 2000 && keys(%seen) == 2000 or die "only $n";
"""


@pytest.mark.parametrize(
    ("interpreter", "option", "text"), [("bash", "-c", BASH), ("perl", "-e", PERL)]
)
def test_interpreters_handle_signals(
    any_allocator: str, interpreter: str, option: str, text: str
) -> None:
    path = shutil.which(interpreter) or pytest.skip(f"needs {interpreter}")
    assert_quiet_success([path, option, textwrap.dedent(text)], any_allocator)


def test_the_storm_of_handlers_breaks_the_heap_of_the_c_library(folder: Path) -> None:
    """The control of the storm: the C library's heap, which promises nothing, does not stand it."""
    program = str(compiled(folder, "handlers.c"))
    ends = {run([program, "storm", "3000000"]).returncode for _ in range(3)}
    assert ends != {0}
