# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A published finding, as a study file states it: in words, and as a rule that can be tested."""

from typing import Any

from pydantic import BaseModel, ConfigDict, StrictStr


class Finding(BaseModel):
    """`[[finding]]`: what was published, where, and the rule that says whether it holds here."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: StrictStr
    words: StrictStr
    source: StrictStr = ""
    test: dict[str, Any] = {}
