# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The schemas are generated, valid, and change only when tests/golden/schemas.toml is changed."""

import hashlib
import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from heapwright.artefacts.schemas import MODULES, schema_text, write_schemas

ROOT = Path(__file__).parents[3]
DIGESTS = tomllib.loads((ROOT / "tests" / "golden" / "schemas.toml").read_text("utf-8"))


def test_every_document_with_a_schema_is_listed() -> None:
    modules = {
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for path in (ROOT / "src" / "heapwright" / "artefacts").rglob("*.py")
        if "\ndef schema_text() -> str:" in path.read_text("utf-8")
    }
    assert modules == set(MODULES.values())
    assert DIGESTS.keys() == MODULES.keys()


@pytest.mark.parametrize("name", MODULES)
def test_a_schema_is_valid_and_known(name: str) -> None:
    text = schema_text(name)
    Draft202012Validator.check_schema(json.loads(text))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == DIGESTS[name], (
        f"the schema {name} changed; if it must, write this digest into tests/golden/schemas.toml"
    )


def test_schemas_are_written_as_files(tmp_path: Path) -> None:
    written = write_schemas(tmp_path / "new")
    assert {path.name for path in written} == {f"{name}.schema.json" for name in MODULES}
    assert json.loads(written[0].read_text("utf-8"))["$schema"].startswith("https://")
