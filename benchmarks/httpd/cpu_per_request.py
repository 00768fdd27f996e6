# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Processor time of httpd for each request, with other pools and with those of its library.

    python benchmarks/httpd/cpu_per_request.py [--rounds N] [--blocks N] [--requests N] [POOLS...]

In each round every variant has a newly started server, so the placement of its memory is also
random. In each block of a round, ab requests all pages from every server, in random order, on four
kept connections. Time is that of all threads of the server's children, as the scheduler counts it,
without the client and other programs. In each round, the mean logarithm of the ratio to the stock
pools is one observation. The interval is Student's over the rounds. A second stock server shows the
effect of no difference. Prints Markdown.
"""

import argparse
import math
import random
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from scipy import stats
from server import Pools, Server, ask, missing, serving

PAGES = {
    "small file": "small.txt",
    "large file": "large.txt",
    "page made of parts": "page.shtml?number=7",
    "listing of a folder": "many/",
}
AGAIN = "stock again"
Round = dict[tuple[str, str], list[float]]
"""Of each variant and page the logarithms of the times in the blocks of one round."""


def per_request(server: Server, page: str, requests: int) -> float:
    """Nanoseconds of the processor for one request."""
    before = server.processor_ns()
    ask(server, page, requests=requests)
    return (server.processor_ns() - before) / requests


def one_round(variants: Sequence[str], blocks: int, requests: int, chance: random.Random) -> Round:
    logarithms: Round = {}
    with ExitStack() as stack:
        servers = {}
        for name in chance.sample(list(variants), len(variants)):
            pools = Pools.STOCK if name == AGAIN else Pools(name)
            servers[name] = stack.enter_context(serving(pools))
        for server in servers.values():
            for page in PAGES.values():
                ask(server, page, requests=requests // 4)
        for _ in range(blocks):
            for title, page in PAGES.items():
                for name in chance.sample(list(variants), len(variants)):
                    time = per_request(servers[name], page, requests)
                    logarithms.setdefault((name, title), []).append(math.log(time))
    return logarithms


def ratio(measured: Round, name: str, title: str) -> float:
    """Logarithm of the ratio to the stock pools: the median over the blocks, in each of which
    both answered one after the other."""
    return float(np.median(np.subtract(measured[name, title], measured[Pools.STOCK, title])))


def said(differences: Sequence[float]) -> str:
    """Geometric mean and 95 % interval."""
    values = np.asarray(differences)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    low, mean, high = (
        math.exp(x) for x in (values.mean() - half, values.mean(), values.mean() + half)
    )
    return f"{mean:.3f} ({low:.3f} to {high:.3f})"


def table(variants: Sequence[str], rounds: Sequence[Round]) -> str:
    others = [name for name in variants if name != Pools.STOCK]
    lines = [
        "| page | stock, µs | " + " | ".join(others) + " |",
        "|---|--:|" + "--:|" * len(others),
    ]
    for title in PAGES:
        stock = math.exp(np.median([each[Pools.STOCK, title] for each in rounds])) / 1000
        ratios = [said([ratio(each, name, title) for each in rounds]) for name in others]
        lines.append(f"| {title} | {stock:.1f} | " + " | ".join(ratios) + " |")
    means = [
        said([float(np.mean([ratio(each, name, title) for title in PAGES])) for each in rounds])
        for name in others
    ]
    lines.append("| all | | " + " | ".join(means) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--requests", type=int, default=250, help="for each page and block")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("pools", nargs="*", default=[Pools.REAP, Pools.EMULATED, AGAIN])
    options = parser.parse_args()
    if reason := missing():
        raise SystemExit(reason)
    variants = [str(Pools.STOCK), *map(str, options.pools)]
    chance = random.Random(options.seed)
    rounds = [
        one_round(variants, options.blocks, options.requests, chance) for _ in range(options.rounds)
    ]
    print(f"{options.rounds} rounds of {options.blocks} blocks, {options.requests} requests each\n")
    print(table(variants, rounds))


if __name__ == "__main__":
    main()
