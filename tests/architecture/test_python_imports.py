# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which folders of the Python package may import which, and that no modules import in a circle.

Stages meet in artefacts alone. Commands join the stages. The command line names the package
`commands`, which imports its modules on first use. Every folder needs a rule.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "heapwright"
ROOT = PACKAGE.name
STAGES = frozenset(
    {
        "analysis",
        "cluster",
        "compose",
        "doctor",
        "drag",
        "experiment",
        "explain",
        "kernel",
        "kernelsim",
        "limit",
        "look",
        "profile",
        "record",
        "replay",
        "report",
        "study",
        "synth",
        "tailor",
    }
)
"""Each may import artefacts and base, and no other stage."""
ALLOWED: Mapping[str, frozenset[str]] = {
    "base": frozenset(),
    "artefacts": frozenset({"base"}),
    **dict.fromkeys(STAGES, frozenset({"artefacts", "base"})),
    "commands": STAGES | {"artefacts", "base"},
    "cli": frozenset({"artefacts", "base", "commands"}),
}
"""What each folder may import from the package, besides itself."""


def folders_of(package: Path) -> set[str]:
    """The folders that hold modules of the package."""
    return {folder.name for folder in package.iterdir() if any(folder.rglob("*.py"))}


def modules_of(package: Path) -> dict[str, Path]:
    """The files of the package by the names of their modules."""
    found = {}
    for file in package.rglob("*.py"):
        parts = file.relative_to(package).with_suffix("").parts
        found[".".join([package.name, *parts]).removesuffix(".__init__")] = file
    return found


def names_imported(file: Path, package: Path) -> Iterator[str]:
    """The full names in all import statements of a module, in functions as well."""
    place = (package.name, *file.relative_to(package).parent.parts)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = place[: len(place) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def modules_imported(file: Path, package: Path, modules: Mapping[str, Path]) -> set[str]:
    """The modules of the package that a module imports; a name in a module stands for it."""
    found = set()
    for name in names_imported(file, package):
        module = name if name in modules else name.rpartition(".")[0]
        if module in modules:
            found.add(module)
    return found


def folder_of(module: str) -> str:
    """The folder in which a module stands; empty for those beside the folders."""
    _, _, below = module.partition(".")
    return below.partition(".")[0]


def violations(package: Path) -> list[str]:
    """Each import that the rules forbid, as `module imports module`."""
    modules = modules_of(package)
    found = []
    for module, file in sorted(modules.items()):
        folder = folder_of(module)
        if folder not in ALLOWED:
            continue
        allowed = ALLOWED[folder] | {folder}
        for other in sorted(modules_imported(file, package, modules)):
            target = folder_of(other)
            early = folder == "cli" and target == "commands" and other != f"{package.name}.commands"
            if (target in ALLOWED and target not in allowed) or early:
                found.append(f"{module} imports {other}")
    return found


def cycles(package: Path) -> list[list[str]]:
    """Groups of modules that import each other in a circle (Tarjan's algorithm)."""
    modules = modules_of(package)
    graph = {
        module: sorted(modules_imported(file, package, modules) - {module})
        for module, file in sorted(modules.items())
    }
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in graph[module]:
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            place = stack.index(module)
            group = stack[place:]
            del stack[place:]
            if len(group) > 1:
                found.append(sorted(group))

    for module in graph:
        if module not in index:
            visit(module)
    return found


def test_every_folder_has_a_rule() -> None:
    assert folders_of(PACKAGE) == set(ALLOWED)


def test_folders_import_only_what_their_rule_allows() -> None:
    assert violations(PACKAGE) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycles(PACKAGE) == []


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A package with a stage and a verb, both of which keep the rules."""
    package = tmp_path / ROOT
    for name, text in {
        "base/errors.py": "",
        "artefacts/__init__.py": "",
        "artefacts/trace/frame.py": "from heapwright.base.errors import x\n",
        "analysis/right.py": "from heapwright.artefacts.trace import frame\n",
        "report/table.py": "",
        "commands/__init__.py": "",
        "commands/compare.py": "from heapwright.analysis import right\n",
        "cli/compare.py": "from heapwright import commands\n",
    }.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    return package


def test_a_package_that_keeps_the_rules_has_no_violation(made: Path) -> None:
    assert (violations(made), cycles(made)) == ([], [])


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "analysis/wrong.py",
            "def f():\n    from ..report import table\n",
            "heapwright.analysis.wrong imports heapwright.report.table",
        ),
        (
            "artefacts/wrong.py",
            "import heapwright.analysis.right\n",
            "heapwright.artefacts.wrong imports heapwright.analysis.right",
        ),
        (
            "base/wrong.py",
            "from heapwright.artefacts.trace.frame import x\n",
            "heapwright.base.wrong imports heapwright.artefacts.trace.frame",
        ),
        (
            "commands/wrong.py",
            "from heapwright.cli import compare\n",
            "heapwright.commands.wrong imports heapwright.cli.compare",
        ),
        (
            "cli/wrong.py",
            "from heapwright.report import table\n",
            "heapwright.cli.wrong imports heapwright.report.table",
        ),
        (
            "cli/early.py",
            "from heapwright.commands.compare import run\n",
            "heapwright.cli.early imports heapwright.commands.compare",
        ),
    ],
)
def test_a_violation_is_seen(made: Path, file: str, text: str, said: str) -> None:
    (made / file).write_text(text, encoding="utf-8")
    assert violations(made) == [said]


def test_a_circle_is_seen(made: Path) -> None:
    (made / "report" / "a.py").write_text("from heapwright.report import b\n", encoding="utf-8")
    (made / "report" / "b.py").write_text(
        "def f():\n    from heapwright.report.a import x\n", encoding="utf-8"
    )
    assert cycles(made) == [["heapwright.report.a", "heapwright.report.b"]]


def test_a_folder_without_a_rule_is_seen(made: Path) -> None:
    (made / "new").mkdir()
    (made / "new" / "module.py").write_text("", encoding="utf-8")
    assert folders_of(made) - set(ALLOWED) == {"new"}
