# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright synth`: from the command line to the trace, the report and its documents."""

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapwright.artefacts.fidelity.document import Fidelity
from heapwright.base import native as parts
from heapwright.base.errors import ExitCode
from heapwright.base.native import NativeMissingError
from heapwright.profile.run import profile_trace

from .tools import Heapwright

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _programs(native: Path) -> None:
    del native
    try:
        for name in ("synth", "profile", "replay"):
            parts.program(name)
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.fixture
def model(heapwright: Heapwright, tmp_path: Path) -> Path:
    trace = tmp_path / "model"
    done = heapwright("synth", "--recreate", "dj2", "--events", "60000", "--seed", "1", "-o", trace)
    assert done.status == 0, done.err
    return trace


def test_a_trace_becomes_a_load_with_a_report(
    heapwright: Heapwright, model: Path, tmp_path: Path
) -> None:
    json_file, html_file = tmp_path / "f.json", tmp_path / "f.html"
    done = heapwright(
        "synth", model, "-o", "load", "--seed", "4", "--json", json_file, "--html", html_file
    )
    assert done.status == 0, done.err
    fidelity = Fidelity.from_json(json_file.read_text(encoding="utf-8"))
    for each in fidelity.distances:
        assert each.aspect in done.out
    assert fidelity.recipe.seed == 4
    assert fidelity.synthetic.totals == profile_trace(tmp_path / "load").totals
    assert fidelity.model.totals == profile_trace(model).totals
    assert "<svg" in html_file.read_text(encoding="utf-8") or html_file.stat().st_size > 10_000
    assert Fidelity.from_json(fidelity.to_json()) == fidelity


def test_a_profile_will_do_as_well_as_its_trace(
    heapwright: Heapwright, model: Path, tmp_path: Path
) -> None:
    document = tmp_path / "profile.json"
    document.write_text(profile_trace(model).to_json(), encoding="utf-8")
    assert heapwright("synth", document, "-q", "-o", "one", "--seed", "4").status == 0
    assert heapwright("synth", model, "-q", "-o", "two", "--seed", "4").status == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_length_and_threads_are_as_asked_for(
    heapwright: Heapwright, model: Path, tmp_path: Path
) -> None:
    done = heapwright("synth", model, "-o", "T", "--events", "150000", "--threads", "3")
    assert done.status == 0, done.err
    found = profile_trace(tmp_path / "T")
    assert found.provenance.events == pytest.approx(150_000, rel=0.02)
    assert len(found.threads) == 3


def test_the_load_can_be_run_at_once(heapwright: Heapwright, model: Path) -> None:
    done = heapwright("synth", model, "-q", "--run", "--model", "costa")
    assert done.status == 0, done.err
    assert "Replayed in" in done.out


def test_allocators_are_ranked_on_both(heapwright: Heapwright, model: Path, tmp_path: Path) -> None:
    done = heapwright("synth", model, "-a", "glibc,kingsley", "-n", "2", "--json", tmp_path / "f")
    assert done.status == 0, done.err
    ranking = Fidelity.from_json((tmp_path / "f").read_text(encoding="utf-8")).ranking
    assert ranking is not None
    assert [row.allocator for row in ranking.allocators] == ["glibc", "kingsley"]
    assert all(row.model_time and row.synthetic_time for row in ranking.allocators)
    assert ranking.tau_memory in (-1.0, 1.0)
    assert "Ranks agree" in done.out


def test_the_recreations_are_listed(heapwright: Heapwright) -> None:
    done = heapwright("synth", "--recreate", "list")
    assert done.status == 0
    names = [line.split()[0] for line in done.out.splitlines()[1:]]
    assert names == ["mt_test_one_alloc", "dj", "dj2", "steady"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "one profile or trace is the model"),
        (["model", "--recreate", "dj"], "one profile or trace is the model"),
        (["--recreate", "dj3", "-o", "T"], "there is no recreation dj3"),
        (["--recreate", "dj"], "the trace has no destination"),
        (["--recreate", "dj", "--threads", "3", "-o", "T"], "--threads needs a model"),
        (["missing"], "missing cannot be read"),
        (["model", "-o", "no/such/T"], "-o no/such/T cannot be written"),
        (["model", "--json", "x", "--html", "x"], "cannot write to the same place"),
        (["model", "--json", "x", "-o", "x"], "--json and -o cannot write to the same place"),
    ],
)
def test_refused_requests_are_reported(
    heapwright: Heapwright, model: Path, arguments: list[str], words: str
) -> None:
    del model
    done = heapwright("synth", *arguments)
    assert done.status == ExitCode.BAD_INPUT
    assert words in done.err
    assert "Traceback" not in done.err


def test_the_model_is_not_written_over(heapwright: Heapwright, model: Path) -> None:
    before = model.read_bytes()
    done = heapwright("synth", model, "-o", model)
    assert done.status == ExitCode.BAD_INPUT
    assert "is what is to be read" in done.err
    assert model.read_bytes() == before


def test_a_load_that_cannot_be_written_leaves_what_was_there(
    heapwright: Heapwright, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "load").write_text("older")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
    try:
        done = heapwright("synth", model, "-o", "load", "--seed", "1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert done.status != 0
    assert "the trace could not be made" in done.err
    assert (tmp_path / "load").read_text() == "older"
    assert not list(tmp_path.glob(".load*"))


@pytest.mark.parametrize("source", [("--recreate", "steady"), ("model",)])
def test_a_trace_that_does_not_fit_is_refused_before_it_is_drawn(
    heapwright: Heapwright, model: Path, tmp_path: Path, source: tuple[str, ...]
) -> None:
    del model
    done = heapwright("synth", *source, "--events", "999999999999", "-o", "T")
    assert done.status == ExitCode.NOT_WRITTEN
    assert "drawing 999,999,999,999 calls: the trace needs about 8,381.9 GiB" in done.err
    assert "calls needs about " in done.err
    assert "--events N draws fewer calls" in done.err
    assert [each.name for each in tmp_path.glob("*T*")] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_request_to_end_leaves_no_file(number: signal.Signals, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    words = ["synth", "--recreate", "steady", "--events", "400000000", "-o", str(place / "T")]
    with subprocess.Popen(
        [sys.executable, "-m", "heapwright", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            while not any(each.stat().st_size for each in place.iterdir()):
                assert process.poll() is None, "it ended before it wrote anything"
                time.sleep(0.01)
            process.send_signal(number)
            assert process.wait(timeout=60) == ExitCode.INTERRUPTED
        finally:
            process.kill()
    assert list(place.iterdir()) == []
