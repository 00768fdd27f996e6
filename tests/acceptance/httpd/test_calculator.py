# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The calculator as a module of httpd: right answers, limits, and what single frees are worth."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pytest

PRIMES = (
    Path(__file__).parents[3] / "catalogue" / "studies" / "programs" / "primes.bc"
).read_bytes()
PRIME_1000 = "7919"

pytestmark = [pytest.mark.programs, pytest.mark.usefixtures("needs_calculator")]


def test_programs_and_expressions(server: Any, httpd: ModuleType) -> None:
    assert httpd.fetch(server, "calculator?2%5E100") == (200, b"1267650600228229401496703205376\n")
    assert httpd.fetch(server, "calculator?scale=5;1%2F7%2B1") == (200, b"1.14285\n")
    program = b"define f(n) {\n if (n < 2) return (1)\n return (n * f(n - 1))\n}\nf(30)\n"
    assert httpd.fetch(server, "calculator", program) == (
        200,
        b"265252859812191058636308480000000\n",
    )
    assert httpd.fetch(server, "calculator") == (200, b"")


def test_errors_are_reported(server: Any, httpd: ModuleType) -> None:
    status, body = httpd.fetch(server, "calculator", b"1/0\n2+\n3\n")
    assert status == 200
    assert body == b"error: line 1: divide by zero\nerror: line 2: syntax error\n3\n"


def test_nothing_runs_for_ever_or_grows_without_end(server: Any, httpd: ModuleType) -> None:
    assert httpd.fetch(server, "calculator", b"while (1) {}\n1\n") == (
        200,
        b"error: line 1: too many steps\n",
    )
    for program in (b"2^10000000", b"a[2^30]=1", b"scale=10^9", b"x=9^9;while(1){x=x*x}"):
        status, body = httpd.fetch(server, "calculator", program)
        assert status == 200
        assert body.startswith(b"error: line 1: ")
    assert httpd.fetch(server, "calculator", b"1" * 70_000)[0] == 413


def test_many_at_once(server: Any, httpd: ModuleType) -> None:
    def ask(number: int) -> bytes:
        program = f"s=0;for(i=0;i<{number};i++)s+=i;s"
        body: bytes = httpd.fetch(server, f"calculator?{quote(program)}")[1]
        return body

    with ThreadPoolExecutor(4) as clients:
        answers = list(clients.map(ask, range(200)))
    assert answers == [b"%d\n" % (n * (n - 1) // 2) for n in range(200)]


def grown(httpd: ModuleType, pools: str, page: str) -> int:
    """What the thousandth prime takes on a server that has answered nothing like it before."""
    with httpd.serving(httpd.Pools(pools)) as server:
        httpd.fetch(server, "calculator?1")
        status, body = httpd.fetch(server, f"calculator/{page}", PRIMES)
    assert status == 200
    prime, account = body.decode().splitlines()
    assert prime == PRIME_1000
    told = json.loads(account)
    assert told["single_frees"] == (page == "account" and pools != "stock")
    return int(told["memory_grown"])


@pytest.mark.parametrize("pools", ["reap", "emulated"])
def test_single_frees_save_most_of_the_memory(
    httpd: ModuleType, needs_pools: Callable[[str], None], pools: str
) -> None:
    needs_pools(pools)
    assert grown(httpd, pools, "keep") >= 10 * max(grown(httpd, pools, "account"), 4096)


def test_stock_pools_have_no_single_frees(httpd: ModuleType) -> None:
    assert grown(httpd, "stock", "account") > 1_000_000
