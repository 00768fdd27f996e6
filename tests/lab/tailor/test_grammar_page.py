# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the grammar is that of the code."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "tailor-grammar.md"


def test_the_page_of_the_grammar_is_up_to_date() -> None:
    script = ROOT / "scripts" / "tailor_grammar.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_each_layer_has_what_it_demands() -> None:
    text = PAGE.read_text("utf-8")
    assert "| Lists | `StrictSegHeap` | `CacheOnlyHeap`, `SizedHeap`, `AnyOrderHeap` |" in text
    assert text.count("| the allocator | `ANSIWrapper` |") == 4
