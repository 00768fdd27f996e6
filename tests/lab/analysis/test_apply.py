# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The lines that apply an advice, tried where they can be: in a shell."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.analysis.apply import Invocation, how_to_apply
from heapwright.artefacts.comparison.document import TreatmentInfo
from heapwright.artefacts.run.provenance import Kind

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"


def treatment(
    preload: str | None, environment: dict[str, str] | None = None, kind: Kind = Kind.PEER
) -> TreatmentInfo:
    return TreatmentInfo(
        allocator="x", label="x", kind=kind, preload=preload, environment=environment or {}
    )


def test_a_library_goes_into_shell_service_and_link_line() -> None:
    assert how_to_apply(
        treatment(JEMALLOC),
        Invocation(
            (
                "g++",
                "-c",
                "a b.cpp",
            )
        ),
    ) == (
        f"shell: LD_PRELOAD={JEMALLOC} g++ -c 'a b.cpp'",
        "service: systemctl edit NAME.service, then write",
        "  [Service]",
        f'  Environment="LD_PRELOAD={JEMALLOC}"',
        f'Dockerfile: ENV LD_PRELOAD="{JEMALLOC}"',
        "Kubernetes: in the entry of the container",
        "  env:",
        "  - name: LD_PRELOAD",
        f'    value: "{JEMALLOC}"',
        "link: -Wl,--no-as-needed -l:libjemalloc.so.2",
    )


def test_a_library_in_a_user_folder_gets_a_run_path() -> None:
    *_, link = how_to_apply(treatment("/opt/my libs/libmine.so"), Invocation(("true",)))
    assert link == (
        "link: -L'/opt/my libs' -Wl,-rpath,'/opt/my libs' -Wl,--no-as-needed -l:libmine.so"
    )


def test_settings_go_with_the_library() -> None:
    lines = how_to_apply(treatment(JEMALLOC, {"MALLOC_CONF": "narenas:1"}), Invocation(("true",)))
    assert lines[0] == f"shell: LD_PRELOAD={JEMALLOC} MALLOC_CONF=narenas:1 true"
    assert lines[3].endswith('" "MALLOC_CONF=narenas:1"')
    assert lines[-1].endswith("(and set MALLOC_CONF as above)")


def test_the_c_library_needs_its_settings_only() -> None:
    settings = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    lines = how_to_apply(treatment(None, settings, Kind.SYSTEM), Invocation(("true",)))
    assert lines[0] == "shell: GLIBC_TUNABLES=glibc.malloc.tcache_count=0 true"
    assert not any(line.startswith("link") for line in lines)


def test_the_plain_c_library_needs_nothing() -> None:
    (line,) = how_to_apply(treatment(None, kind=Kind.SYSTEM), Invocation(("true",)))
    assert "without a preload" in line


def test_the_shell_line_survives_a_shell() -> None:
    value = 'a\'b "c" $HOME %h \\ ;'
    line = how_to_apply(
        treatment(None, {"TRICKY": value}),
        Invocation(
            (
                "printenv",
                "TRICKY",
            )
        ),
    )[0]
    ran = subprocess.run(
        ["/bin/sh", "-c", line.removeprefix("shell: ")], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{value}\n"


def test_the_service_line_is_quoted_for_systemd() -> None:
    line = how_to_apply(treatment(None, {"TRICKY": 'a "b" 5% \\'}), Invocation(("true",)))[3]
    assert line == r'  Environment="TRICKY=a \"b\" 5%% \\"'
    assert shlex.split(line.strip().removeprefix("Environment="))[0].replace("%%", "%") == (
        'TRICKY=a "b" 5% \\'
    )


def test_settings_of_the_users_environment_are_kept() -> None:
    own = {
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=9",
        "LD_LIBRARY_PATH": "/opt/lib",
        "LD_PRELOAD": "/opt/libhook.so",
        "MALLOC_ARENA_MAX": "2",
        "PYTHONMALLOC": "malloc",
    }
    tuned = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=9:glibc.malloc.arena_max=1"}
    shell, *_, link = how_to_apply(
        treatment(JEMALLOC, tuned),
        Invocation(
            (
                "python3",
                "x.py",
            ),
            own,
        ),
    )
    assert shell == (
        f"shell: LD_PRELOAD={JEMALLOC}:/opt/libhook.so "
        "GLIBC_TUNABLES=glibc.malloc.tcache_count=9:glibc.malloc.arena_max=1 "
        "MALLOC_ARENA_MAX=2 PYTHONMALLOC=malloc python3 x.py"
    )
    assert link.endswith("(and set GLIBC_TUNABLES, MALLOC_ARENA_MAX, PYTHONMALLOC as above)")


def test_a_search_path_is_kept_only_for_a_library_from_it() -> None:
    own = {"LD_LIBRARY_PATH": "/opt/lib:/opt/other"}
    assert (
        "LD_LIBRARY_PATH=/opt/lib:/opt/other"
        in (how_to_apply(treatment("/opt/lib/libx.so"), Invocation(("true",), own))[0])
    )
    assert "LD_LIBRARY_PATH" not in "".join(
        how_to_apply(treatment(JEMALLOC), Invocation(("true",), own))
    )


def test_the_docker_line_has_each_value_as_one_word() -> None:
    value = 'a "b" $HOME \\ c'
    lines = how_to_apply(treatment(None, {"TRICKY": value, "B": "1"}), Invocation(("true",)))
    (line,) = (line for line in lines if line.startswith("Dockerfile: "))
    words = line.removeprefix("Dockerfile: ENV ")
    ran = subprocess.run(  # the quotes of a shell have the same rules for these characters
        ["/bin/sh", "-c", f"{words.replace(' B=', '; B=')}; printf '%s|%s' \"$TRICKY\" $B"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"{value}|1"


def test_the_kubernetes_entry_is_yaml() -> None:
    yaml = pytest.importorskip("yaml", reason="no PyYAML (mkdocs has it)")
    value = 'a: "b" $(HOME) \\ #c'
    lines = how_to_apply(
        treatment(JEMALLOC, {"TRICKY": value}), Invocation(("true",), {"MALLOC_ARENA_MAX": "2"})
    )
    first = lines.index("  env:")
    entry = [line for line in lines[first:] if line.startswith("  ")]
    assert yaml.safe_load("\n".join(entry)) == {
        "env": [
            {"name": "LD_PRELOAD", "value": JEMALLOC},
            {"name": "TRICKY", "value": value.replace("$(", "$$(")},
            {"name": "MALLOC_ARENA_MAX", "value": "2"},
        ]
    }


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze (systemd)")
def test_the_drop_in_is_accepted_by_systemd(tmp_path: Path) -> None:
    lines = how_to_apply(treatment(JEMALLOC, {"TRICKY": 'a "b" 5%'}), Invocation(("true",)))
    first = lines.index("  [Service]")
    unit = tmp_path / "tried.service"
    text = "\n".join(line.strip() for line in lines[first : first + 2])
    unit.write_text(f"{text}\nExecStart=/bin/true\n")
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "tried.service:" not in ran.stderr
