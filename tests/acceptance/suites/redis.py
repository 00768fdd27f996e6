# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Redis' own tests from the distribution's source, of the distribution's server."""

import re
from collections.abc import Sequence
from pathlib import Path

from .sources import source
from .suite import Verdict, needed

PROGRAMS = ("redis-server", "redis-cli", "redis-benchmark", "redis-check-aof", "redis-check-rdb")
# Data types and what saves, copies, evicts and scripts them. Tests that wait for replicas and
# clusters are left out. So are those that compare figures of jemalloc (memefficiency, dismiss-mem),
# because they query jemalloc under any malloc.
UNITS = (
    *(f"unit/type/{each}" for each in ("string", "incr", "list", "list-2", "list-3", "set")),
    *(f"unit/type/{each}" for each in ("zset", "hash", "stream", "stream-cgroups")),
    *(f"unit/{each}" for each in ("dump", "auth", "protocol", "keyspace", "scan", "info", "sort")),
    *(f"unit/{each}" for each in ("expire", "other", "multi", "quit", "aofrw", "acl", "pubsub")),
    *(f"unit/{each}" for each in ("slowlog", "scripting", "functions", "introspection", "limits")),
    *(f"unit/{each}" for each in ("bitops", "bitfield", "geo", "hyperloglog", "lazyfree")),
    *(f"unit/{each}" for each in ("querybuf", "tracking", "networking", "maxmemory")),
    *(f"integration/{each}" for each in ("aof", "aof-multi-part", "rdb", "corrupt-dump")),
    *(f"integration/{each}" for each in ("logging", "redis-cli", "redis-benchmark")),
)


class Redis:
    name = "redis"
    program = "redis-check-rdb"  # which redis-server is a link to
    limit_s = 3600
    rootless = False

    def prepare(self, folder: Path) -> None:
        needed("tclsh", "tcl")
        binaries = source("redis", folder) / "src"
        for name in PROGRAMS:
            program = needed(name, "redis-server" if name == "redis-server" else "redis-tools")
            (binaries / name).unlink(missing_ok=True)
            (binaries / name).symlink_to(program)

    def command(self, folder: Path, work: Path, only: Sequence[str]) -> list[str | Path]:
        del folder, work
        units = [word for unit in only or UNITS for word in ("--single", unit)]
        return [needed("tclsh", "tcl"), "tests/test_helper.tcl", "--clients", "2", *units]

    def environment(self) -> dict[str, str]:
        return {}

    def where(self, folder: Path, work: Path) -> Path:
        del work
        return source("redis", folder)

    def read(self, output: str) -> Verdict:
        """Units are what can be run again: `[err]: a test in tests/unit/x.tcl`."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
        failed = set(re.findall(r"^\[err\]: .* in tests/(\S+)\.tcl", plain, re.M))
        failed |= set(re.findall(r"^\[exception\].*?(unit/\S+|integration/\S+)", plain, re.M))
        passed = len(re.findall(r"^\[ok\]: ", plain, re.M))
        ended = "All tests passed without errors" in plain or "The End" in plain or bool(failed)
        return Verdict(frozenset(failed), passed, ended)
