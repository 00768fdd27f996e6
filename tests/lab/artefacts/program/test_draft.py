# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""First program files: what a unit or an image says is taken over, the rest is said."""

import json
from pathlib import Path

import pytest

from heapwright.artefacts.program.draft import (
    Draft,
    Wanted,
    from_image,
    from_unit,
    from_words,
    placed,
    program_text,
)
from heapwright.artefacts.program.file import ProgramFile, read_program
from heapwright.base.errors import HeapwrightError

UNIT = """
[Unit]
ExecStart=/not/this
[Service]
; a comment \\
Type=forking
User=nobody
EnvironmentFile=-/etc/default/mine
Environment="GREETING=hello world" MODE=fast
Environment=MODE=slow
ExecStart=/first/one
ExecStart=
ExecStart=-/usr/bin/mine --listen 127.0.0.1:80 \\
    --other 8080 '{"a": 1}'
WorkingDirectory=-/srv/80
"""
WANTED = Wanted("mine", ("ab", "http://127.0.0.1:80/"), port=80)


def read(folder: Path, draft: Draft, wanted: Wanted) -> ProgramFile:
    path = folder / "mine.toml"
    path.write_text(program_text(draft, placed(wanted)))
    return read_program(path)


def test_a_unit(tmp_path: Path) -> None:
    draft = from_unit(UNIT)
    assert draft.server[:2] == ("/usr/bin/mine", "--listen")
    assert draft.environment == {"GREETING": "hello world", "MODE": "slow"}
    assert len(draft.remarks) == 3
    program = read(tmp_path, draft, WANTED).program
    assert program.server is not None
    assert program.server.command[2:] == (
        "127.0.0.1:{port}",
        "--other",
        "8080",
        '{{"a": 1}}',
    )
    assert program.command == ("ab", "http://127.0.0.1:{port}/")
    assert program.server.ready.port == "{port}"
    assert program.environment["GREETING"] == "hello world"
    text = (tmp_path / "mine.toml").read_text()
    assert "# To decide: Type=forking" in text


def test_an_image(tmp_path: Path) -> None:
    config = {
        "Entrypoint": ["/bin/serve"],
        "Cmd": ["-p", "80"],
        "Env": ["PATH=/bin", "A=b=c"],
        "WorkingDir": "/srv",
        "ExposedPorts": {"80/tcp": {}},
    }
    draft = from_image(json.dumps([{"Config": config}]))
    assert draft.server == ("/bin/serve", "-p", "80")
    assert draft.environment == {"A": "b=c"}
    assert "the image offers 80/tcp" in draft.remarks
    assert read(tmp_path, draft, WANTED).program.cwd == "/srv"


def test_a_socket_and_a_client_command_are_drafted(tmp_path: Path) -> None:
    draft = from_words("serve --socket /run/mine/s --name 'a b'")
    wanted = Wanted("mine", ("load", "/run/mine/s"), socket="/run/mine/s")
    program = read(tmp_path, draft, wanted).program
    assert program.server is not None
    assert program.server.command == ("serve", "--socket", "{run}/socket", "--name", "a b")
    assert program.command == ("load", "{run}/socket")
    assert program.server.ready.socket == "{run}/socket"
    asked = Wanted("mine", ("load",), port=80, ready=("ask", "80"))
    program = read(tmp_path, draft, asked).program
    assert program.server is not None
    assert program.server.ready.command == ("ask", "{port}")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: from_unit("[Service]\nType=simple\n"), "has no \\[Service\\] with an ExecStart"),
        (lambda: from_image("{}"), "not what `docker inspect IMAGE` prints"),
        (lambda: from_image("no JSON"), "not what `docker inspect IMAGE` prints"),
        (lambda: from_image('[{"Config": {}}]'), "no command that it starts"),
        (lambda: from_words("a 'b"), "cannot be split into words"),
        (lambda: from_words(" "), "there is no command"),
        (
            lambda: program_text(Draft(("a",)), Wanted("a", ("b",))),
            "known that the service is ready",
        ),
    ],
)
def test_an_incomplete_draft_is_refused(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(HeapwrightError, match=words):
        make()
