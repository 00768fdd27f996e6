# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is in the wheels runs with an older C library, and on aarch64 under an emulator."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from support.elf_versions import elf_files, needed_versions

pytestmark = pytest.mark.slow
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
ON_DEBIAN_11 = """
ldd --version | head -n 1
chmod -R a+x wheel
NATIVE=$PWD/wheel/heapwright/native
export LD_PRELOAD=$NATIVE/lib/libheapwright-granary.so
perl -e 'my %h; $h{$_} = [$_] for 1..20000; print scalar(keys %h), "\\n"'
perl -e 'open F, "/proc/self/maps"; print "granary\\n" if grep /libheapwright-granary/, <F>'
$NATIVE/workloads/larson --scale 0.1 >/dev/null && echo larson
"""
# A name space of users has formats of programs of its own, so this needs no root (Linux 6.7).
EMULATED = r"""
set -eu
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
machine='\x02\x00\xb7\x00' mask='\xfe\xff\xff\xff'
printf '%s' ':aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00'"$machine"\
':\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff'"$mask:$2:F" \
    >/proc/sys/fs/binfmt_misc/register
mkdir -p "$1/proc" "$1/dev"
mount --rbind /proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp PYTHONPATH=/opt sh -c '
uname -m
python3 -m heapwright --version
python3 -m heapwright run --allocator granary -- \
    perl -e "open F, qq(/proc/self/maps); print qq(granary\n) if grep /heapwright-granary/, <F>"
/opt/heapwright/native/workloads/larson --scale 0.01 >/dev/null && echo larson
'
"""


def wheel(release: Path, machine: str) -> Path:
    found = [*release.glob(f"*_{machine}.whl")]
    return found[0] if found else pytest.skip("no wheel (package g++-aarch64-linux-gnu)")


def program(name: str, package: str) -> str:
    return shutil.which(name) or pytest.skip(f"there is no {name} (package {package})")


@pytest.mark.parametrize("machine", MACHINES)
def test_no_file_needs_a_newer_library(release: Path, machine: str, tmp_path: Path) -> None:
    with ZipFile(wheel(release, machine)) as archive:
        archive.extractall(tmp_path)
    files = elf_files(tmp_path)
    assert set(files.values()) == {MACHINES[machine]}
    for file in files:
        for family, versions in needed_versions(file).items():
            assert max(versions) <= NEWEST.get(family, max(versions)), file


def test_allocators_and_programs_run_on_debian_11(
    release: Path, in_debian: Callable[..., str], tmp_path: Path
) -> None:
    files = tmp_path / "files"
    with ZipFile(wheel(release, "x86_64")) as archive:
        archive.extractall(files / "wheel")
    said = in_debian("bullseye", ON_DEBIAN_11, files, "perl,libstdc++6").splitlines()
    assert "2.31" in said[0]
    assert said[1:] == ["20000", "granary", "larson"]


def test_the_wheel_for_aarch64_runs_in_an_emulator(release: Path, tmp_path: Path) -> None:
    emulator = program("qemu-aarch64-static", "qemu-user-static")
    name_spaces = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
    if subprocess.run([*name_spaces, "true"], check=False).returncode != 0:
        pytest.skip("this kernel permits no name space of users (package util-linux)")
    tree = tmp_path / "tree.tar"
    include = "--include=python3-minimal,python3,libstdc++6,coreutils,dash,perl-base,libc6"
    command = [program("mmdebstrap", "mmdebstrap"), "--quiet", "--arch=arm64", "--variant=extract"]
    subprocess.run([*command, include, "bookworm", tree], check=True)
    root = tmp_path / "root"
    root.mkdir()
    subprocess.run(["tar", "-x", "--exclude=./dev/*", "-C", root, "-f", tree], check=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", f"--target={root}/opt"]
    install += ["--only-binary=:all:", "--python-version=3.11"]
    install += [f"--platform=manylinux_2_{minor}_aarch64" for minor in (17, 27, 28)]
    subprocess.run([*install, wheel(release, "aarch64")], check=True)
    done = subprocess.run(
        [*name_spaces, "sh", "-c", EMULATED, "sh", root, emulator],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "aarch64"
    assert said[1].startswith("heapwright ")
    assert said[2:] == ["granary", "larson"]
