# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the workloads, under the C library's malloc or under an allocator made for the test."""

import json
import os
import resource
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from heapwright.base.native import NativeMissingError, workload, workload_dir
from support.running import ran

HERE = Path(__file__).parent
LIBRARY = ["-shared", "-fPIC", "-O1", "-fno-builtin", "-ftls-model=initial-exec", "-pthread"]


@dataclass(frozen=True, slots=True)
class Done:
    status: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """The JSON line that was printed, which is all that was printed."""
        (line,) = self.out.splitlines()
        document = json.loads(line)
        assert isinstance(document, dict)
        return document


def run(
    name: str,
    *options: object,
    preload: Path | None = None,
    address_space: int | None = None,
    environment: dict[str, str] | None = None,
) -> Done:
    """One run of a workload. `address_space` limits it, in bytes."""
    kept = {key: text for key, text in os.environ.items() if not key.startswith(("LD_", "GLIBC_"))}
    kept |= environment or {}
    if preload is not None:
        kept["LD_PRELOAD"] = str(preload)

    def limit() -> None:
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))

    done = ran([workload(name), *map(str, options)], timeout=120, env=kept, preexec_fn=limit)
    return Done(done.returncode, done.stdout, done.stderr)


def result(name: str, *options: object, **more: Any) -> dict[str, Any]:
    """The result of a run that ends well."""
    done = run(name, *options, **more)
    assert done.status == 0, done
    assert done.err == ""
    return done.result


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    try:
        present = workload_dir().is_dir()
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    if not present:
        pytest.skip("the named workloads are not installed")


Tiny = Callable[..., Path]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Builds the tiny allocator in one of its forms: `tiny("PRIVATE", "LEAST=64")`."""
    folder = tmp_path_factory.mktemp("tiny")

    def build(*forms: str) -> Path:
        library = folder / f"lib{'-'.join(forms)}.so"
        if not library.exists():
            compiler = shutil.which("cc") or pytest.skip("needs a C compiler (package gcc)")
            source = HERE / "allocators" / "tiny.c"
            words = [compiler, *LIBRARY, *(f"-D{form}" for form in forms), source, "-o", library]
            done = ran(words)
            assert done.returncode == 0, done.stderr
        return library

    return build
