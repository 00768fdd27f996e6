# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the descriptions of the named workloads from their programs."""

import os
import subprocess

from pydantic import ValidationError

from heapwright.artefacts.workload.library import Workload, workload_names, workload_path
from heapwright.base.errors import HeapwrightError

PATIENCE_S = 30.0


def describe(name: str) -> Workload:
    """The description of a workload. Raises HeapwrightError for an unknown name."""
    path = workload_path(name)
    # Do not run it under an allocator that is preloaded here.
    environment = {key: text for key, text in os.environ.items() if not key.startswith("LD_")}
    try:
        done = subprocess.run(
            [path, "--describe"],
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_S,
            env=environment,
        )
        return Workload.model_validate_json(done.stdout)
    except (OSError, subprocess.SubprocessError, ValidationError) as error:
        raise HeapwrightError(
            f"the workload {name} does not describe itself: {str(error).splitlines()[0]}",
            "build and install again",
        ) from error


def describe_all() -> list[Workload]:
    """All that are installed, by name."""
    return [describe(name) for name in workload_names()]
