# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The tool reads the documents that its earlier versions wrote.

documents/ has one document of each version that a verb reads back. A new version gets a new file,
and the old file stays. Documents of studies are the committed runs of docs/results.
"""

import gzip
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.documents import VERSION, parsed
from heapwright.artefacts.long_run.document import LongRun
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.taxonomy.document import Taxonomy

DOCUMENTS = Path(__file__).parent / "documents"
MODELS: dict[str, type[BaseModel]] = {
    "comparison": Comparison,
    "long-run": LongRun,
    "profile": Profile,
    "taxonomy": Taxonomy,
}


def versions(model: type[BaseModel]) -> tuple[int, ...]:
    return get_args(model.model_fields[VERSION].annotation)


def test_each_version_has_a_document() -> None:
    expected = {f"{name}-{each}.json.gz" for name in MODELS for each in versions(MODELS[name])}
    assert {path.name for path in DOCUMENTS.iterdir()} == expected


@pytest.mark.parametrize("path", sorted(DOCUMENTS.iterdir()), ids=lambda path: path.name)
def test_a_document_of_an_earlier_tool_is_read(path: Path) -> None:
    name, _, version = path.name.removesuffix(".json.gz").rpartition("-")
    document = parsed(MODELS[name], gzip.decompress(path.read_bytes()), path, name)
    assert getattr(document, VERSION) == int(version)
