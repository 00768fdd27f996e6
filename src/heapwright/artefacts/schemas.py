# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of documents that the tool reads or writes.

    python -m heapwright.artefacts.schemas FOLDER

writes one file NAME.schema.json for each name of MODULES into the folder.
"""

import sys
from importlib import import_module
from pathlib import Path

MODULES = {
    "advice": "heapwright.artefacts.tailoring.advice",
    "agreement": "heapwright.artefacts.agreement.document",
    "analysis": "heapwright.artefacts.study_analysis.document",
    "comparison": "heapwright.artefacts.comparison.document",
    "drag": "heapwright.artefacts.drag.document",
    "fidelity": "heapwright.artefacts.fidelity.document",
    "granary-statistics": "heapwright.artefacts.allocator.granary_statistics",
    "kernel-load": "heapwright.artefacts.kernelsim.load",
    "kernel-models": "heapwright.artefacts.kernelsim.document",
    "kernel-replay": "heapwright.artefacts.kernel_study.replay",
    "limit": "heapwright.artefacts.limit.document",
    "long-run": "heapwright.artefacts.long_run.document",
    "look": "heapwright.artefacts.look.document",
    "profile": "heapwright.artefacts.profile.document",
    "program": "heapwright.artefacts.program.model",
    "study": "heapwright.artefacts.study.model",
    "tailoring": "heapwright.artefacts.tailoring.document",
    "taxonomy": "heapwright.artefacts.taxonomy.document",
    "tuning": "heapwright.artefacts.tuning.document",
    "validation": "heapwright.artefacts.validation.document",
}
"""By the name of the schema: the module that describes the document."""


def schema_text(name: str) -> str:
    """The schema of one document as JSON text. Raises KeyError for an unknown name."""
    made = import_module(MODULES[name]).schema_text()
    assert isinstance(made, str)
    return made


def write_schemas(folder: Path) -> list[Path]:
    """Write all schemas into a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{name}.schema.json" for name in MODULES]
    for name, path in zip(MODULES, written, strict=True):
        path.write_text(schema_text(name), encoding="utf-8")
    return written


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m heapwright.artefacts.schemas FOLDER")
    for each in write_schemas(Path(sys.argv[1])):
        sys.stdout.write(f"{each}\n")
