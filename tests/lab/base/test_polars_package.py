# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The variable that Polars sets does not reach the commands that are measured."""

import os
import sys

import pytest

from support.running import ran

NAME = "_RJEM_MALLOC_CONF"
IMPORTED = f"""
import os
from heapwright.artefacts.trace.frame import pl
print(pl.__name__, os.environ.get({NAME!r}))
"""


@pytest.mark.parametrize("own", [None, "narenas:1"])
def test_the_import_leaves_the_environment_as_it_was(own: str | None) -> None:
    environment = {name: text for name, text in os.environ.items() if name != NAME}
    environment |= {} if own is None else {NAME: own}
    done = ran([sys.executable, "-c", IMPORTED], env=environment)
    assert done.stdout.split() == ["polars", str(own)]
