# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The way in: an interrupt that comes while the command line is still being imported."""

import sys
from importlib.machinery import ModuleSpec

import pytest

from heapwright.__main__ import main


class Interrupting:
    """A finder that is interrupted when it reads the command line."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        del path, target
        if name == "heapwright.cli.main":
            raise KeyboardInterrupt
        return None


def test_ctrl_c_while_importing_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "heapwright.cli.main", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 130
