# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Observations and models of made studies, for the tests of the factorial analysis."""

from collections.abc import Callable

import pytest

from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import Observed, observe

from .made import Study


@pytest.fixture(scope="session")
def seen() -> Callable[[Study], Observed]:
    def look(study: Study) -> Observed:
        return observe(study.frame(), study.named(), "y")

    return look


@pytest.fixture(scope="session")
def modelled(seen: Callable[[Study], Observed]) -> Callable[[Study], Model]:
    def fit(study: Study) -> Model:
        return model(seen(study))

    return fit
