# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright gate` from end to end: what `compare` wrote of the same program, and of a slowed one.

The assertions on measured times are as wide as any machine needs. A program that does twenty times
the work is slower by half at least, and one that does the same is not.
"""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.gate.document import Change, Gate
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.cli.gate import STATUSES

from .tools import Done, Heapwright, compile_c

PROGRAM = """
#include <stdlib.h>
#include <string.h>
int main(void) {
    for (int i = 0; i < TIMES * 150000; ++i) {
        char *volatile object = malloc(100);
        memset(object, 1, 100);
        free(object);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The program as it was, and one that does twenty times the work, under one name."""
    made = {}
    for times in (1, 20):
        folder = tmp_path_factory.mktemp(f"build{times}")
        made[times] = compile_c(folder / "program", PROGRAM.replace("TIMES", str(times)))
    return made


def measure(heapwright: Heapwright, program: Path, name: str) -> None:
    done = heapwright(
        "compare", "-n", "6", "-a", "glibc,kingsley", "--json", name, "-q", "--", program
    )
    assert done.status == 0, done.err


@pytest.mark.usefixtures("native")
def test_the_same_program_twice_and_a_slowed_one(
    heapwright: Heapwright, programs: dict[int, Path], tmp_path: Path
) -> None:
    measure(heapwright, programs[1], "before.json")
    measure(heapwright, programs[1], "again.json")
    measure(heapwright, programs[20], "slowed.json")

    def gate(current: str) -> tuple[Done, Gate]:
        done = heapwright(
            "gate", "before.json", current, "--margin", "50%", "--response", "cpu", "-a", "glibc",
            "--json", "gate.json",
        )  # fmt: skip
        return done, Gate.model_validate_json((tmp_path / "gate.json").read_text())

    done, found = gate("again.json")
    assert found.verdict in {Change.SAME, Change.UNDECIDED}
    assert done.status == STATUSES[found.verdict]
    assert done.out.startswith(found.sentence)
    if found.verdict is Change.UNDECIDED:
        assert found.shifts[0].more_blocks

    done, found = gate("slowed.json")
    assert found.verdict is Change.SLOWER, found
    assert done.status == 10
    assert done.out.startswith("Slower: glibc: ")
    assert "the command lies in another folder than before" in done.out


def written(path: Path, seconds: list[float], **changes: object) -> None:
    """A comparison as `compare` writes it: x takes these times, glibc always a second."""
    runs = [
        Run(
            allocator=name,
            block=block,
            position=1,
            outcome=Outcome.OK,
            wall_s=wall if name == "x" else 1.0,
            peak_rss_bytes=1 << 20,
        ).model_dump(mode="json")
        for name in ("glibc", "x")
        for block, wall in enumerate(seconds, 1)
    ]
    machine = {
        **dict.fromkeys(("host", "kernel", "distribution", "cpu", "governor"), "m"),
        **dict.fromkeys(("libc", "heapwright", "python", "date", "clock"), "m"),
        "cpus": 2,
        "memory_bytes": 1,
    }
    design = {"blocks": len(seconds), "warmup": 0, "seed": 1, "baseline": "glibc"}
    document = {
        "heapwright_version": "0",
        "command": ["./program"],
        "environment": machine,
        "design": {**design, "stopped_because": "done"},
        "treatments": [
            {"allocator": name, "label": name, "kind": "peer"} for name in ("glibc", "x")
        ],
        "runs": runs,
        "effects": [],
        "responses": [],
        "pareto": [],
        "verdict": {"action": "undecided", "allocator": None, "reason": ""},
        **changes,
    }
    path.write_text(Comparison.model_validate(document).to_json(), encoding="utf-8")


BEFORE = [1.0, 1.01, 0.99, 1.0, 1.005, 0.995]


@pytest.mark.parametrize(
    ("factor", "status", "word"),
    [(1.001, 0, "The same"), (1.2, 10, "Slower"), (0.8, 0, "Faster"), (1.03, 12, "Undecided")],
)
def test_each_verdict_has_its_exit_status(
    heapwright: Heapwright, tmp_path: Path, factor: float, status: int, word: str
) -> None:
    written(tmp_path / "before.json", BEFORE)
    written(tmp_path / "now.json", [factor * each for each in BEFORE])
    done = heapwright("gate", "before.json", "now.json", "-q")
    assert done.status == status
    assert done.out.startswith(word)
    assert done.out.count("\n") == 1
    assert done.err == ""


@pytest.mark.parametrize(
    ("factor", "status", "word"), [(1.001, 0, "The same"), (1.2, 10, "Slower"), (0.8, 0, "Faster")]
)
def test_one_document_is_enough(
    heapwright: Heapwright, tmp_path: Path, factor: float, status: int, word: str
) -> None:
    written(tmp_path / "both.json", [factor * each for each in BEFORE])
    done = heapwright("gate", "both.json", "-q")
    assert (done.status, done.err) == (status, "")
    assert done.out.startswith(f"{word}: x: ")
    assert "relative to glibc" in done.out
    refused = heapwright("gate", "both.json", "--absolute")
    assert refused.status == 2
    assert "--absolute needs two documents" in refused.err


def test_passing_candidates_can_be_chosen(heapwright: Heapwright, tmp_path: Path) -> None:
    written(tmp_path / "before.json", BEFORE)
    written(tmp_path / "now.json", [0.8 * each for each in BEFORE])
    assert heapwright("gate", "before.json", "now.json", "--pass", "same").status == 11
    assert heapwright("gate", "now.json", "before.json", "--pass", "slower").status == 0
    refused = heapwright("gate", "now.json", "before.json", "--pass", "quick")
    assert refused.status == 2
    assert "'quick'" in refused.err


def test_the_document_goes_to_standard_output(heapwright: Heapwright, tmp_path: Path) -> None:
    written(tmp_path / "before.json", BEFORE)
    written(tmp_path / "now.json", [1.2 * each for each in BEFORE])
    done = heapwright("gate", "before.json", "now.json", "--json", "-")
    assert json.loads(done.out)["verdict"] == "slower"
    assert done.err.startswith("Slower: ")


def test_the_answer_for_a_comment(heapwright: Heapwright, tmp_path: Path) -> None:
    written(tmp_path / "both.json", [1.2 * each for each in BEFORE])
    done = heapwright("gate", "both.json", "-q", "--markdown", "answer.md", "--svg", "answer.svg")
    assert done.status == 10
    sentence, picture, table = (tmp_path / "answer.md").read_text("utf-8").split("\n\n")
    assert sentence == f"**{done.out.strip()}**"
    fence, strip, axis, end = picture.splitlines()
    assert (fence, end) == ("```text", "```")
    assert re.fullmatch(r"x  time +░+│░+ +├─*o─*┤", strip), strip
    assert re.fullmatch(r" +-6 % +0 +\+2[01] %", axis), axis
    assert axis.index("0") == strip.index("│")
    assert "| x | time | slower | 1.2000 (1.1" in table
    drawn = ElementTree.parse(tmp_path / "answer.svg").getroot()
    assert done.out.strip() in [text.strip() for text in drawn.itertext()]
    refused = heapwright("gate", "both.json", "--svg", "answer.md", "--markdown", "answer.md")
    assert refused.status == 2
    assert "--markdown and --svg cannot write to the same place" in refused.err


def test_a_failing_candidate_of_one_document_is_broken(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    written(tmp_path / "both.json", BEFORE)
    document = json.loads((tmp_path / "both.json").read_text("utf-8"))
    for run in document["runs"]:
        if run["allocator"] == "x":
            run.update(outcome="crashed", signal=11)
    (tmp_path / "both.json").write_text(json.dumps(document), encoding="utf-8")
    done = heapwright("gate", "both.json", "--markdown", "answer.md", "--svg", "answer.svg")
    assert done.status == 13
    assert done.out.startswith("Broken: x: no longer always ends well: crashed 6 times\n")
    assert "```" not in (tmp_path / "answer.md").read_text("utf-8")
    assert ElementTree.parse(tmp_path / "answer.svg").getroot().tag.endswith("}svg")
    for run in document["runs"]:
        run.update(outcome="crashed", signal=11)
    (tmp_path / "both.json").write_text(json.dumps(document), encoding="utf-8")
    done = heapwright("gate", "both.json")
    assert done.status == 1
    assert "nothing can be compared" in done.err


def test_files_that_are_no_comparisons(heapwright: Heapwright, tmp_path: Path) -> None:
    written(tmp_path / "before.json", BEFORE)
    (tmp_path / "other.json").write_text("{}")
    done = heapwright("gate", "before.json", "other.json")
    assert done.status == 2
    assert "other.json is not a comparison" in done.err
    assert "compare --json" in done.err
    done = heapwright("gate", "before.json", "missing.json")
    assert done.status == 2
    assert "missing.json cannot be read" in done.err


def test_another_command_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    written(tmp_path / "before.json", BEFORE)
    written(tmp_path / "now.json", [1.2 * each for each in BEFORE], command=["./another"])
    done = heapwright("gate", "before.json", "now.json")
    assert done.status == 2
    assert "not the same was run" in done.err
    assert heapwright("gate", "before.json", "now.json", "--accept-differences").status == 10
