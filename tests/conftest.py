# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What all tests share: where everything optional is installed, a skip is a failure.

A test that misses an optional part skips and names it. Continuous integration installs every part
and sets HEAPWRIGHT_NO_SKIP, so that a test which silently stopped running is noticed there.

Whoever starts the tests in the background, or under nohup, has them ignore an interrupt or a
terminal that closes, and every program that they start would too; some are there to be interrupted.
"""

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# No test asserts a time, and none may fail because the machine has other work.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if os.environ.get("HEAPWRIGHT_NO_SKIP") and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} skipped where nothing may: {reason}"
    return report
