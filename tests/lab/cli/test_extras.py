# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Without the extras the tool answers in the terminal, and its errors name the missing extra."""

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from site import getsitepackages

import pytest

import heapwright
from heapwright.base.extras import EXTRAS, need
from support.running import ran

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_EXTRAS = ("altair", "vl_convert", "polars", "apsw", "scipy", "distributed", "dask")
pytestmark = pytest.mark.usefixtures("native")


def base_of(requirement: str) -> str:
    return requirement.partition(">")[0].lower()


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed libraries without those of the extras."""
    return libraries_without(OF_EXTRAS, tmp_path_factory.mktemp("libraries"))


def libraries_without(names: tuple[str, ...], folder: Path) -> Path:
    """A folder with links to the other installed libraries."""
    for place in map(Path, getsitepackages()):
        for each in place.iterdir() if place.is_dir() else ():
            if not each.name.lower().startswith(names) and not (folder / each.name).exists():
                (folder / each.name).symlink_to(each)
    return folder


def base(libraries: Path, *words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the tool as a base installation has it. -S leaves out the installed libraries."""
    source = Path(heapwright.__file__).parents[1]
    # An installed heapwright is among the libraries. Its folder has those of the extras, too.
    places = [libraries] if str(source) in getsitepackages() else [source, libraries]
    path = os.pathsep.join(map(str, places))
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(folder)}
    return ran([sys.executable, "-S", "-m", "heapwright", *words], cwd=folder, env=environment)


@pytest.mark.parametrize("module", EXTRAS)
def test_an_extra_installs_what_its_error_names(module: str) -> None:
    _, extra = EXTRAS[module]
    (distribution,) = set(packages_distributions()[module])
    assert distribution.lower() in map(base_of, PROJECT["optional-dependencies"][extra])
    assert distribution.lower() not in map(base_of, PROJECT["dependencies"])
    need(module)


def test_all_has_every_extra_for_users() -> None:
    extras = PROJECT["optional-dependencies"]
    users = ",".join(name for name in extras if name not in {"all", "release", "dev"})
    assert extras["all"] == [f"heapwright[{users}]"]


def test_answers_in_the_terminal_need_no_extra(libraries: Path, tmp_path: Path) -> None:
    runs = (
        ("profile", "--", "true"),
        ("compare", "-n", "2", "--json", "c.json", "-a", "glibc,lea", "--", "true"),
        ("gate", "c.json"),
    )
    for words in runs:
        done = base(libraries, *words, folder=tmp_path)
        assert done.returncode != 2, (words, done.stderr)
        assert "Traceback" not in done.stderr
        assert done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("profile", "--html", "p.html", "--", "true"), "pages"),
        (("report", ".", "-o", "page.html"), "pages"),
        (("analyse", "."), "studies"),
    ],
)
def test_an_error_names_the_extra_before_the_work(
    libraries: Path, tmp_path: Path, words: tuple[str, ...], extra: str
) -> None:
    kept = ROOT / "docs" / "results" / "berger-2002-general"
    folder = shutil.copytree(kept, tmp_path / "results")
    done = base(libraries, *words, folder=folder)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "is not installed" in done.stderr
    assert f"pip install 'heapwright[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_analyse_names_scipy_before_the_results_if_only_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "libraries").mkdir()
    libraries = libraries_without(("scipy",), tmp_path / "libraries")
    done = base(libraries, "analyse", "no-such-folder", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "the analysis of a study needs scipy, which is not installed" in done.stderr


def test_verbs_of_the_base_import_nothing_that_imports_scipy() -> None:
    """Not even by way of the analysis of studies."""
    verbs = "compare gate replay agree profile record explain top trace drag limit doctor"
    names = ", ".join(f"heapwright.commands.{verb}" for verb in verbs.split())
    found = "[each for each in sys.modules if each.startswith(('scipy', FACTORIAL))]"
    code = f"import sys, {names}; FACTORIAL = 'heapwright.analysis.factorial'; print({found})"
    done = ran([sys.executable, "-c", code])
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
