# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Containers of many runtimes, made up."""

import pytest

from heapwright.artefacts.checkup.document import Finding
from heapwright.doctor import container

from .conftest import MakeMachine

GROUPS = {"sys/fs/cgroup/cgroup.controllers": "cpu memory"}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({".dockerenv": "", "proc/self/cgroup": "0::/"}, "Docker; control groups of version 2"),
        (
            {"proc/self/cgroup": "4:memory:/docker/0123\n0::/system.slice"},
            "Docker; control groups of version 1",
        ),
        ({"run/.containerenv": ""}, "Podman; no control groups"),
        (
            {".dockerenv": "", "run/secrets/kubernetes.io/token": "x"},
            "Docker, Kubernetes; no control groups",
        ),
        ({"proc/self/cgroup": "0::/kubepods.slice/cri-containerd-1"}, "Kubernetes, containerd;"),
        ({"run/systemd/container": "systemd-nspawn"}, "systemd-nspawn;"),
    ],
)
def test_a_container_is_recognised(machine: MakeMachine, files: dict[str, str], words: str) -> None:
    check = container.container(machine({**GROUPS, **files}))
    assert check.finding is Finding.NOTE
    assert check.says.startswith(words)
    assert check.says.endswith("limits and rights are those of the container")


def test_a_container_whose_limits_cannot_be_read(machine: MakeMachine) -> None:
    check = container.container(machine({".dockerenv": ""}))
    assert check.finding is Finding.WARNING
    assert "its limits are not known here" in check.says
    assert "/sys/fs/cgroup" in check.advice


def test_no_container(machine: MakeMachine) -> None:
    check = container.container(machine({**GROUPS, "proc/self/cgroup": "0::/user.slice"}))
    assert (check.finding, check.says) == (Finding.GOOD, "none; control groups of version 2")


@pytest.mark.parametrize(
    ("status", "finding", "words"),
    [
        ("Seccomp:\t0\nNoNewPrivs:\t0", Finding.GOOD, "no filter"),
        ("Seccomp:\t0\nNoNewPrivs:\t1", Finding.GOOD, "no filter, and no program gains rights"),
        ("Seccomp:\t2\nSeccomp_filters:\t1", Finding.NOTE, "a filter: a refused system call"),
        ("Seccomp:\t2\nSeccomp_filters:\t3\nNoNewPrivs:\t1", Finding.NOTE, "3 filters, and no"),
        ("Seccomp:\t2", Finding.NOTE, "a filter: "),
        ("", Finding.UNKNOWN, "the machine does not tell"),
    ],
)
def test_seccomp(machine: MakeMachine, status: str, finding: Finding, words: str) -> None:
    check = container.seccomp(machine({"proc/self/status": f"Name:\tx\n{status}"}))
    assert check.finding is finding
    assert check.says.startswith(words)
    assert ("seccomp=unconfined" in check.advice) == (finding is Finding.NOTE)
