# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""GNU bc as a module of httpd: the distribution's source with a small patch, on pools."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "benchmarks" / "httpd" / "bc" / "build.sh"
PRIMES = (ROOT / "catalogue" / "studies" / "programs" / "primes.bc").read_bytes()
MOST_LINES = 20
PROGRAMS = (
    b"2^100\n",
    b"scale=20; sqrt(2); 1/7\n",
    b"define f(n) {\n if (n < 2) return (1)\n return (n * f(n - 1))\n}\nf(200)\n",
    b'ibase=16; FF; obase=2; print "text\\n", F\n',
    b"for (i = 0; i < 50; i++) a[i] = i^i\na[49]\n",
    b"1\nquit\n2\n",
    b"3\nhalt\n4\n",
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bc")
    done = subprocess.run([BUILD, folder], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode == 3:
        pytest.skip(f"{done.stderr} (packages dpkg-dev, patch, bison, flex, gcc and apache2-dev)")
    assert done.returncode == 0, done.stderr
    changed = re.fullmatch(r"mod_bc\.so: (\d+) lines of (\d+) added or changed\n", done.stdout)
    assert changed is not None, done.stdout
    assert 0 < int(changed[1]) <= MOST_LINES
    assert int(changed[2]) > 5000
    return folder / "mod_bc.so"


@pytest.fixture(autouse=True)
def loaded(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPD_BC", str(module))


@pytest.mark.parametrize("pools", ["stock", "reap", "emulated"])
def test_its_answers_are_those_of_the_program(
    httpd: ModuleType, needs_pools: Callable[[str], None], pools: str
) -> None:
    needs_pools(pools)
    if shutil.which("bc") is None:
        pytest.skip("no bc (package bc)")
    with httpd.serving(httpd.Pools(pools)) as server:
        for program in PROGRAMS * 2:
            alone = subprocess.run(["bc", "-q"], input=program, capture_output=True, check=True)
            assert httpd.fetch(server, "bc", program) == (200, alone.stdout), program


def test_a_program_finds_nothing_of_the_one_before(httpd: ModuleType) -> None:
    with httpd.serving(httpd.Pools.REAP) as server:
        for _ in range(40):  # both processes have had requests then
            assert httpd.fetch(server, "bc", b"x;a[3];x=5;a[3]=7;x\n") == (200, b"0\n0\n5\n")
        status, body = httpd.fetch(server, "bc", b"1/0\nf(2)\n2+\n9\n")
        assert status == 200
        assert b"Divide by zero" in body
        assert b"not defined" in body
        assert b"syntax error" in body
        assert body.endswith(b"9\n")
        assert httpd.fetch(server, "bc", b"1" * 70_000)[0] == 413
        assert httpd.fetch(server, "bc")[0] == 405


@pytest.mark.parametrize("pools", ["reap", "emulated"])
def test_single_frees_save_most_of_the_memory(
    httpd: ModuleType, needs_pools: Callable[[str], None], pools: str
) -> None:
    needs_pools(pools)
    grown = {}
    for way in ("keep", "account"):
        with httpd.serving(httpd.Pools(pools)) as server:
            httpd.fetch(server, "bc", b"1\n")
            status, body = httpd.fetch(server, f"bc/{way}", PRIMES)
        prime, told = body.decode().splitlines()
        account = json.loads(told)
        assert (status, prime) == (200, "7919")
        assert account["single_frees"] == (way == "account")
        assert account["releases"] > 0.9 * account["allocations"] > 100_000
        grown[way] = account["memory_grown"]
    assert grown["keep"] >= 10 * max(grown["account"], 4096)
