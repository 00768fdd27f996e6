# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright programs new`, and the page that leads through it."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode

from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "measuring-a-service.md"
CLIENT = """
import sys, urllib.request
for _ in range(20):
    assert urllib.request.urlopen(sys.argv[1], timeout=60).status == 200
print("requests 20")
"""


def test_a_service_is_written_up_and_run(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    server = f"{sys.executable} -m http.server 8099 --bind 127.0.0.1"
    client = f"{sys.executable} {tmp_path}/client.py http://127.0.0.1:8099/"
    words = ("programs", "new", "web", "--server", server, "--client", client, "--port", "8099")
    made = heapwright(*words)
    assert made.status == ExitCode.OK, made.err
    assert "heapwright programs run ./web.toml" in made.err
    assert heapwright("programs", "run", "./web.toml").out.startswith("web under glibc: ok")
    again = heapwright(*words)
    assert again.status == ExitCode.BAD_INPUT
    assert "web.toml is there" in again.err
    assert "[server]" in heapwright(*words, "-o", "-").out
    both = heapwright(*words, "--unit", "x")
    assert "use exactly one of --unit" in both.err


@pytest.mark.programs
def test_the_page_can_be_followed(heapwright: Heapwright, tmp_path: Path) -> None:
    for program in ("ab", "python3"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (packages apache2-utils, python3)")
    if not Path("/usr/share/common-licenses").is_dir():
        pytest.skip("there are no licences to serve (package base-files)")
    text = PAGE.read_text(encoding="utf-8")
    unit, changed = re.findall(r"```(?:ini|toml)\n(.*?)```", text, flags=re.DOTALL)[:2]
    (tmp_path / "greeter.service").write_text(unit)
    (new,) = re.findall(r"^    heapwright (programs new (?:.*\\\n)*.*)$", text, flags=re.MULTILINE)
    words = re.findall(r"'[^']*'|[^\s\\]+", new)
    made = heapwright(*(word.strip("'") for word in words))
    assert made.status == ExitCode.OK, made.err
    path = tmp_path / "greeter.toml"
    head = path.read_text().partition("# What the client prints")[0]
    path.write_text(head + changed)
    done = heapwright("programs", "run", "./greeter.toml")
    assert done.status == ExitCode.OK, done.out
    assert "requests a second" in done.out


@pytest.mark.parametrize("option", ["--server", "--client", "--ready"])
def test_a_place_holder_for_the_port_is_refused(
    option: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    words = {"--server": "mine", "--client": "true", option: "mine {port}"}
    given = [part for pair in words.items() for part in pair]
    done = heapwright("programs", "new", "mine", *given, "--port", "8080")
    assert done.status == 2
    assert f"{option} holds {{port}}" in done.err
    assert not (tmp_path / "mine.toml").exists()
