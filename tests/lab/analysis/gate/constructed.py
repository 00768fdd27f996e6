# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Documents of constructed runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from heapwright.analysis.gate.documents import Document, Figure
from heapwright.artefacts.run.provenance import Environment
from support.documents import made

MACHINE = made(Environment, host="h", kernel="k", cpus=2, memory_bytes=1 << 30)
FIGURES = (Figure("time", "s"), Figure("memory", "bytes"), Figure("p99_ns", "ns"))


def logs(mean: float, scatter: float, blocks: int = 10) -> list[float]:
    """Logarithms whose mean and standard deviation are exactly these, without drift."""
    signs = np.array([1.0 if number % 2 else -1.0 for number in range(blocks)])
    signs -= signs.mean()
    return list(mean + (signs / signs.std(ddof=1) * scatter if scatter else signs * 0.0))


def document(name: str, values: Mapping[tuple[str, str], list[float]], **changes: Any) -> Document:
    treatments = list(dict.fromkeys(treatment for treatment, _ in values))
    usual: dict[str, Any] = {
        "kind": "comparison",
        "subject": ("./program", "7"),
        "environment": MACHINE,
        "pinned_cpus": (),
        "references": dict.fromkeys(treatments, "glibc"),
        "identities": dict.fromkeys(treatments, "1 aaaaaaaaaaaa"),
        "figures": {figure.name: figure for figure in FIGURES},
    }
    blocks = {pair: dict(enumerate(logs, 1)) for pair, logs in values.items()}
    return Document(name=name, values=blocks, **{**usual, **changes})
