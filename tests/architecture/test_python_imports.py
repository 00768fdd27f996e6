# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The lab's stages import artefacts and never each other; the command line joins them."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "heapwright"
STAGES = sorted(p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name[0] not in "._")

# What each folder of the package may import from the package, besides itself.
ALLOWED = {"base": set(), "artefacts": {"base"}, "cli": set(STAGES)}


def imported_stages(file: Path) -> set[str]:
    """The folders of the package that a module imports from."""
    package = ("heapwright", *file.relative_to(PACKAGE).parent.parts)
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "heapwright" and len(parts) > 1 and parts[1] in STAGES:
                found.add(parts[1])
    return found


@pytest.mark.parametrize("stage", STAGES)
def test_stage_imports_only_what_its_rank_allows(stage: str) -> None:
    allowed = ALLOWED.get(stage, {"artefacts", "base"}) | {stage}
    wrong = {
        str(file.relative_to(PACKAGE)): sorted(extra)
        for file in (PACKAGE / stage).rglob("*.py")
        if (extra := imported_stages(file) - allowed)
    }
    assert not wrong, f"{stage}/ may import only {sorted(allowed)}"


def test_the_rule_sees_a_violation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = tmp_path / "heapwright" / "analysis"
    stage.mkdir(parents=True)
    module = stage / "wrong.py"
    module.write_text("from ..report import table\nfrom heapwright.experiment.engine import x\n")
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path / "heapwright")
    assert imported_stages(module) == {"report", "experiment"}
