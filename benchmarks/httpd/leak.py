# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What httpd's memory comes to over very many requests, and after them.

    python benchmarks/httpd/leak.py [--requests N] [POOLS...]

One server for each kind of pools. Nine requests of ten are for a small file on connections that are
kept. The others are for a page made of parts and for the listing of a folder. The measured figure
is the anonymous memory of the server's children between requests: after a first part of the load,
then ten times. The leak is the growth from half way to the end, for each request between. An object
that is lost in each request would be at least 16 bytes. (Before half way a general-purpose
allocator below may still fill its caches.) Then comes a burst of many connections. Its peak and the
memory after it are measured. Exit status 1 if the leak is 8 bytes or more for a request. It is also
1 if the remaining memory is more than a tenth above that of the stock pools. Prints Markdown.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from server import Pools, Server, ask, missing, serving

LEAK = 8.0
PARTS = 10
MIX = (("small.txt", 0.9, True), ("page.shtml?number=7", 0.06, False), ("many/", 0.04, False))
BURST = 30


@dataclass
class Memory:
    """Bytes of one server's children."""

    idle: list[int] = field(default_factory=list)
    burst: int = 0
    after: int = 0

    def leak(self, requests: int) -> float:
        """Bytes that are there more for each request of the second half."""
        return (self.idle[-1] - self.idle[PARTS // 2]) / (requests / 2)


def load(server: Server, requests: int) -> None:
    for page, share, keep in MIX:
        ask(server, page, requests=max(8, round(share * requests)), connections=8, keep=keep)


def burst(server: Server, requests: int) -> int:
    """The most memory while many connections ask for a listing. None is kept: where nearly all
    threads are busy, the server ends kept ones as they like."""
    most = 0
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, server, "many/", requests=requests, connections=BURST, keep=False)
        while not asking.done():
            most = max(most, server.own_bytes())
            wait([asking], timeout=0.02)
        asking.result()
    return most


def measure(pools: Pools, requests: int) -> Memory:
    """A server through the whole of it."""
    memory = Memory()
    with serving(pools) as server:
        # Before the first look every thread has answered, and every size has been there.
        load(server, max(20_000, requests // 20))
        burst(server, 3000)
        memory.idle.append(server.own_bytes())
        for _ in range(PARTS):
            load(server, requests // PARTS)
            memory.idle.append(server.own_bytes())
        memory.burst = burst(server, 3000)
        memory.after = server.own_bytes()
    return memory


def row(pools: str, memory: Memory, requests: int) -> str:
    looks = (memory.idle[0], memory.idle[PARTS // 2], memory.idle[-1], memory.burst, memory.after)
    cells = " | ".join(f"{look / 2**20:.2f}" for look in looks)
    return f"| {pools} | {cells} | {memory.leak(requests):+.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("pools", nargs="*", default=[Pools.STOCK, Pools.REAP, Pools.EMULATED])
    options = parser.parse_args()
    if reason := missing():
        raise SystemExit(reason)
    print(f"MiB of the children, {options.requests:,} requests; bytes more for each request\n")
    print("| pools | first | half way | end | in a burst | after it | leak |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    wrong = False
    stock = None
    for name in options.pools:
        memory = measure(Pools(name), options.requests)
        print(row(name, memory, options.requests), flush=True)
        stock = memory.after if name == Pools.STOCK else stock
        wrong |= memory.leak(options.requests) >= LEAK
        wrong |= stock is not None and memory.after > 1.1 * stock
    sys.exit(wrong)


if __name__ == "__main__":
    main()
