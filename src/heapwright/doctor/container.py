# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether this is a container, and which system calls it refuses."""

from heapwright.artefacts.checkup.document import Check
from heapwright.doctor.machine import Machine, good, note, unknown, warning

MARKS = (
    ("Docker", ".dockerenv"),
    ("Podman", "run/.containerenv"),
    ("Kubernetes", "run/secrets/kubernetes.io"),
    ("Kubernetes", "var/run/secrets/kubernetes.io"),
)
"""Files that a runtime puts into its containers."""
MANAGER = "run/systemd/container"
"""What the first process of systemd knows of its container, such as lxc."""
WORDS = {
    "kubepods": "Kubernetes",
    "docker": "Docker",
    "libpod": "Podman",
    "containerd": "containerd",
    "lxc": "LXC",
}
"""Parts of the names of control groups, as the host gives them."""


def container(machine: Machine) -> Check:
    """Limits and rights are those of the container, and its files may not show all of them."""
    name = _name(machine)
    groups = _groups(machine)
    if not name:
        return good("container", f"none; {groups}")
    if not any((machine.root / "sys/fs/cgroup").glob("*")):
        return warning(
            "container",
            f"{name}, without the files of its control groups: its limits are not known here",
            "mount /sys/fs/cgroup read-only, as docker and podman do by themselves",
        )
    return note("container", f"{name}; {groups}; limits and rights are those of the container")


def seccomp(machine: Machine) -> Check:
    """A filter refuses system calls, also some that allocators and instruments make."""
    status = machine.table("proc/self/status")
    mode = status.get("Seccomp", "")
    fixed = ", and no program gains rights" if status.get("NoNewPrivs") == "1" else ""
    if mode == "0":
        return good("seccomp", f"no filter{fixed}")
    if mode not in {"1", "2"}:
        return unknown("seccomp", "the machine does not tell")
    number = status.get("Seccomp_filters", "")
    filters = "a filter" if number in {"", "1"} else f"{number} filters"
    return note(
        "seccomp",
        f"{filters}{fixed}: a refused system call changes what an allocator or instrument does",
        "measure under the filter of production; docker run --security-opt seccomp=unconfined has "
        "none",
    )


def _name(machine: Machine) -> str:
    """What is known of the container; "" outside of one."""
    names = [name for name, mark in MARKS if (machine.root / mark).exists()]
    names += [machine.text(MANAGER)]
    path = machine.text("proc/self/cgroup")
    names += [name for word, name in WORDS.items() if word in path]
    return ", ".join(dict.fromkeys(filter(None, names)))


def _groups(machine: Machine) -> str:
    """The versions of the control groups that hold this process."""
    numbers = [line.partition(":")[0] for line in machine.text("proc/self/cgroup").splitlines()]
    if not numbers:
        return "no control groups"
    if all(number == "0" for number in numbers):
        return "control groups of version 2"
    return "control groups of version 1"
