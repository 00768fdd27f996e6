# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Shared by runs with a server and by the preparation of data: environment, log, end."""

from collections.abc import Mapping
from pathlib import Path

from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.model import ProgramServer
from heapwright.artefacts.run.measured import Outcome
from heapwright.experiment.measurement import text_in
from heapwright.experiment.outcome import FAULTS, Classified, signal_name
from heapwright.experiment.program.steps import last_lines, run_step
from heapwright.experiment.program.template_values import Binding
from heapwright.experiment.runner import RawRun
from heapwright.experiment.server import Server

PLAIN = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
KILL = 9
FAULT_NUMBERS = frozenset(int(each) for each in FAULTS)


def environment_of(
    file: ProgramFile, binding: Binding, run: Path, base: Mapping[str, str]
) -> dict[str, str]:
    """The environment of all processes of a run. The user's own settings are neither read nor
    written."""
    own = {"HOME": str(run), "TMPDIR": str(run), **PLAIN}
    left = {name: text for name, text in base.items() if not name.startswith("XDG_")}
    named = {name: binding.text(text) for name, text in file.program.environment.items()}
    return {**left, **own, **named}


def log_of(server: ProgramServer, binding: Binding, cwd: Path, output: Path) -> str:
    """The output of a server: its log if it has one, else its standard output."""
    if server.log:
        return text_in(cwd / binding.text(server.log))
    return text_in(output)


def stopped(
    server: Server,
    served: ProgramServer,
    binding: Binding,
    environment: Mapping[str, str],
    scratch: Path,
) -> tuple[RawRun, Classified | None]:
    """Stop a server in its own way; return its usage and the defects of its end."""
    if not served.stop or server.is_over():
        raw, early = server.stop()
        return raw, early or _bad_end(raw, float(served.timeout_s))
    patience = float(served.timeout_s)
    done = run_step(binding.words(served.stop), environment, scratch, scratch / "stop", patience)
    if done.good and server.is_over(patience):
        raw = server.left()
        ended = raw.signal is None and raw.exit_status == 0
        how = f"exit status {raw.exit_status}" if raw.signal is None else signal_name(raw.signal)
        bad = Classified(Outcome.FAILED, f"the server ended badly after the request to stop: {how}")
        return raw, _bad_end(raw, patience) or (None if ended else bad)
    raw, _ = server.stop()
    why = f"{served.stop[0]} {done.why}: {done.said}" if done.why else f"not within {patience:g} s"
    return raw, Classified(
        Outcome.FAILED, f"the server did not end after the request to stop: {why}"
    )


def _bad_end(raw: RawRun, patience_s: float) -> Classified | None:
    """Check the end of a server. It may die of the stop signal, or exit with any status, but it
    must not crash or stay."""
    if raw.signal in FAULT_NUMBERS:
        tail = last_lines(raw.stderr_tail)
        words = f"the server was killed by {signal_name(raw.signal)} while it ended"
        return Classified(Outcome.CRASHED, f"{words}\n{tail}" if tail else words)
    if raw.signal == KILL:
        words = f"the server still ran {patience_s:g} s after the request to stop"
        return Classified(Outcome.TIMEOUT, words)
    return None
