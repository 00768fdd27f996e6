# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A small server and its client, in every way in which they can go wrong, as program files."""

import os
from pathlib import Path

from heapwright.artefacts.program.file import ProgramFile, read_program
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.native import witness
from heapwright.experiment.measurement import Conditions, Specs
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.session import Prepared, Session, SessionRun
from heapwright.experiment.treatments import Treatment

ENVIRONMENT = {key: text for key, text in os.environ.items() if key != "LD_PRELOAD"}
GLIBC = Treatment(Allocator(name="glibc", kind=Kind.SYSTEM, caption="the C library's"))

SERVER = """
import os, signal, socket, subprocess, sys, time
way = sys.argv[2]
print("I am the server", flush=True)
print(os.getpid(), file=open("pids", "w"))
if way in ("again", "clears") and len(sys.argv) < 4:  # executes itself again
    kept = os.environ if way == "again" else {}
    os.execve(sys.executable, [sys.executable, *sys.argv, "anew"], dict(kept))
if way == "silent":
    print("but I have nothing to say", flush=True)
    time.sleep(600)
if way == "early":
    sys.exit("no: there is no such table")
if way == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if way == "crashing-end":
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen()
if way == "drops" and os.geteuid() == 0:
    os.setuid(65534)
if way == "forks" and (worker := os.fork()):
    signal.signal(signal.SIGTERM, lambda *_: os.kill(worker, signal.SIGTERM))
    os.waitpid(worker, 0)
    sys.exit(0)
child = subprocess.Popen(["sleep", "600"]) if way == "child" else None
while True:
    connection = listening.accept()[0]
    said = connection.recv(100)
    if not said:  # only asked whether somebody is there
        connection.close()
        continue
    if said == b"end":
        listening.close(); sys.exit(0)
    if way == "dies":
        os.kill(os.getpid(), signal.SIGSEGV)
    if way == "leaves":
        sys.exit(0)
    if way == "mute":
        time.sleep(600)
    connection.sendall(b"wrong" if way == "lies" else said)
    connection.close()
"""
CLIENT = """
import socket, sys, time
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
connection.sendall(sys.argv[2].encode())
answer = connection.recv(100)
if not answer and sys.argv[3] == "patient":
    time.sleep(600)
print("answer", answer.decode(), "rate", 200)
sys.exit(0 if answer or sys.argv[2] == "end" else "no answer")
"""
FILE = """format = 1
name = "small"
title = "A small server"
command = ["{python}", "{folder}/client.py", "{run}/s", "{word}", "{patience}"]
timeout_s = 60
{more}
[parameters]
word = "hello"
way = "plain"
patience = "hasty"
[server]
command = ["{python}", "{folder}/server.py", "{run}/s", "{way}"]
ready = { socket = "{run}/s" }
timeout_s = 20
{served}
[responses.rate]
last_number = "rate"
better = "higher"
inverse = "each_s"
[[check]]
what = "the answer is what was said"
pattern = "answer hello"
"""


def small(
    folder: Path, more: str = "", served: str = "", text: str = FILE, **parameters: str
) -> ProgramFile:
    """The small server, with more keys of the file or of its server."""
    (folder / "server.py").write_text(SERVER)
    (folder / "client.py").write_text(CLIENT)
    path = folder / "small.toml"
    path.write_text(text.replace("{more}", more).replace("{served}", served))
    return read_program(path, None, parameters)


def take(file: ProgramFile, data: Path | None = None, timeout_s: float | None = None) -> SessionRun:
    """One run of it on the C library, proven."""
    assert witness().is_file()
    with PreloadPaths() as paths:
        specs = Specs(Conditions((), ENVIRONMENT, Path.cwd()), paths)
        return Session(Prepared(file, data), specs).take(GLIBC, timeout_s)


__all__ = ["ENVIRONMENT", "GLIBC", "small", "take"]
