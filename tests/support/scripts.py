# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts of the project that tests load as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def load_script(script: str) -> ModuleType:
    """The module of a script such as `scripts/findings_page.py`. Its name is made of the path, so
    two scripts with one file name stay apart."""
    name = script.removesuffix(".py").replace("/", "_")
    spec = importlib.util.spec_from_file_location(name, ROOT / script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # data classes look for their module there
    spec.loader.exec_module(module)
    return module
