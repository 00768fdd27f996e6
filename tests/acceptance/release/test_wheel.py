# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The wheel answers on a bare Debian without a compiler; the sources build without a network."""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from support.running import ran
from support.scripts import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the tag is that of x86-64"),
]
TAG = "py3-none-manylinux_2_28_x86_64"
COMPARE = """
python3 -m venv tool
listed() { find tool ! -name '*.pyc' ! -name __pycache__ | sort; }
listed >before
seconds() { cut -d ' ' -f 1 /proc/uptime; }
start=$(seconds)
tool/bin/pip install --quiet --no-index --find-links wheels heapwright
if command -v gcc; then exit 1; fi
du -sm --exclude='pip*' --exclude='setuptools*' tool/lib/python3*/site-packages | cut -f1
tool/bin/heapwright compare --budget 0.5 -- ls -R /usr
echo "seconds $start $(seconds)"
tool/bin/heapwright profile --html page.html -- true 2>&1 | grep -F "heapwright[pages]"
tool/bin/pip freeze | cut -d = -f 1 | xargs tool/bin/pip uninstall --quiet --yes
listed >after
diff before after
echo no trace
"""
LARGEST_MB = 150
"""Without pip and setuptools. docs/how-to/install.md states the sizes."""


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_the_tag_is_that_of_the_oldest_c_library(release: Path) -> None:
    assert only(release, "*_x86_64.whl").name.split("-", 2)[2] == f"{TAG}.whl"


def test_a_wheel_of_an_unknown_machine_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "heapwright-1-py3-none-manylinux_2_28_riscv64.whl"
    with ZipFile(wheel, "w") as files:
        files.writestr("heapwright-1.dist-info/METADATA", "Name: heapwright\nVersion: 1\n")
    script, document = ROOT / "scripts" / "sbom.py", tmp_path / "x.json"
    done = ran([sys.executable, script, document, wheel])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sbom: {wheel}: the name ends with no known machine (x86_64,")
    assert not document.exists()


def test_the_checksums_are_those_of_all_files(release: Path) -> None:
    lines = (release / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    files = [each for each in release.iterdir() if each.name != "SHA256SUMS"]
    assert sums == {each.name: sha256(each.read_bytes()).hexdigest() for each in files}
    assert len(sums) >= 4


def test_the_materials_have_what_the_wheels_need(release: Path) -> None:
    document = json.loads(only(release, "*.spdx.json").read_text(encoding="utf-8"))
    packages = {each["SPDXID"]: each for each in document["packages"]}
    relations = {
        (each["spdxElementId"], each["relationshipType"], each["relatedSpdxElement"])
        for each in document["relationships"]
    }
    for wheel in release.glob("*.whl"):
        own = "SPDXRef-heapwright-" + ("aarch64" if "aarch64" in wheel.name else "x86-64")
        assert packages[own]["packageFileName"] == wheel.name
        (checksum,) = packages[own]["checksums"]
        assert checksum["checksumValue"] == sha256(wheel.read_bytes()).hexdigest()
        assert (own, "DEPENDS_ON", "SPDXRef-numpy") in relations
        assert ("SPDXRef-scipy", "OPTIONAL_DEPENDENCY_OF", own) in relations
        linked = {
            related for made, kind, related in relations if (made, kind) == (own, "STATIC_LINK")
        }
        assert len(linked & packages.keys()) == 2
    assert packages["SPDXRef-altair"]["versionInfo"]
    assert "SPDXRef-pytest" not in packages


@pytest.mark.parametrize("system", [("bookworm", "3.11"), ("trixie", "3.13")], ids="-".join)
def test_a_bare_debian_compares_without_a_compiler(
    release: Path,
    in_debian: Callable[..., str],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    system: tuple[str, str],
) -> None:
    suite, python = system
    files = tmp_path / "files"
    (files / "wheels").mkdir(parents=True)
    wheel = only(release, "*_x86_64.whl")
    download = [sys.executable, "-m", "pip", "download", "-q", "-d", str(files / "wheels")]
    for_python = ["--only-binary=:all:", f"--python-version={python}"]
    subprocess.run([*download, *for_python, wheel], check=True)
    said = in_debian(suite, COMPARE, files, "python3-venv").splitlines()
    assert int(said[0]) < LARGEST_MB
    assert any(line.startswith("granary") for line in said)
    assert any(re.match("Switch to |Undecided: |.*: (stay with|keep) ", line) for line in said)
    (took,) = (line.split()[1:] for line in said if line.startswith("seconds "))
    record_property("seconds to the verdict", float(took[1]) - float(took[0]))
    assert said[-1] == "no trace"


def test_the_source_distribution_builds_offline(release: Path, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    subprocess.run([sys.executable, "-m", "venv", tool], check=True)
    # The libraries of this environment, behind those of the new one.
    (packages,) = tool.glob("lib/python3*/site-packages")
    here = Path(pytest.__file__).parents[1]
    (packages / "libraries.pth").write_text(f"{here}\n", encoding="utf-8")
    before = listed(tool)
    pip: list[str | Path] = [tool / "bin" / "python", "-m", "pip"]
    install = [*pip, "install", "--no-index", "--no-deps", "--ignore-installed"]
    beside = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    beside.pop("HEAPWRIGHT_NATIVE", None)
    beside.pop("PYTHONPATH", None)
    done = ran([*install, "--no-build-isolation", only(release, "*.tar.gz")], env=beside)
    if "scikit_build_core" in done.stderr and "No module named" in done.stderr:
        pytest.skip("scikit-build-core of PyPI is not installed")
    assert done.returncode == 0, done.stderr
    compare = ["compare", "-n", "2", "-a", "glibc,granary", "--", "true"]
    done = ran([tool / "bin" / "heapwright", *compare], env=beside, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search("^granary ", done.stdout, re.MULTILINE)
    place: list[str | Path] = [
        tool / "bin" / "python",
        "-c",
        "import heapwright; print(heapwright.__file__)",
    ]
    assert ran(place, env=beside, cwd=tmp_path).stdout.startswith(str(packages))
    done = ran([*pip, "uninstall", "--yes", "heapwright"], env=beside)
    assert done.returncode == 0, done.stderr
    assert listed(tool) == before


def listed(folder: Path) -> set[str]:
    """All files below a folder that Python does not write by itself."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return {name for name in found if "__pycache__" not in name}
