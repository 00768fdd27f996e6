# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel models`, after its options are read."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from heapwright import __version__
from heapwright.analysis.kernelsim import model_errors
from heapwright.artefacts.kernelsim.document import (
    MODELS,
    MOST_PROCESSORS,
    KernelModels,
    ModelsAnswer,
)
from heapwright.artefacts.kernelsim.load import KernelLoad
from heapwright.artefacts.kernelsim.load_file import LoadFile, changed, load_names, open_load
from heapwright.base.errors import HeapwrightError
from heapwright.base.spelling import nearest
from heapwright.commands.output import Destination, Outputs
from heapwright.commands.text import printing
from heapwright.experiment.design import fresh_seed
from heapwright.kernelsim.program import ModelRuns, run_load, run_trace, write_trace
from heapwright.report.columns import Columns
from heapwright.report.console import make_console
from heapwright.report.kernelsim import print_caches, print_counts, print_models

LIST = "list"
REFERENCE = "reference"
MODELLED = "6.1"
DEFAULT_CPUS = "4"
BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    load: str | None
    trace: Path | None
    models: str
    cpus: str | None
    seed: int | None
    operations: int | None
    memory: int | None
    rounds: int
    counts: bool
    caches: bool
    kept_trace: str | None
    json_file: str | None
    quiet: bool


def run_models(options: Options) -> None:
    """Run the verb. Raises HeapwrightError for a refused request."""
    if (options.load is None) == (options.trace is None):
        raise HeapwrightError(
            "name exactly one load or one kernel trace",
            "heapwright kernel models --load churn, or --trace FILE; --load list names the loads",
        )
    if options.load == LIST:
        _list()
        return
    models = _models(options.models)
    outputs = Outputs(json=options.json_file)
    document = (
        _of_load(options, models, outputs)
        if options.trace is None
        else _of_trace(options, options.trace, models, outputs)
    )
    with printing():
        console = make_console(outputs.stream)
        print_models(console, document, model_errors(document), quiet=options.quiet)
        if options.counts:
            print_counts(console, document, quiet=options.quiet)
        if options.caches:
            print_caches(console, document)
    if failure := outputs.write(json=document.to_json):
        raise failure


def _models(text: str) -> tuple[str, ...]:
    names = tuple(each.strip() for each in text.split(",") if each.strip())
    for name in names:
        if name not in MODELS:
            raise HeapwrightError(
                f"there is no model {name!r}",
                nearest(name, MODELS) or f"there are {', '.join(MODELS)}",
            )
    if not names:
        raise HeapwrightError("-m names no model", f"there are {', '.join(MODELS)}")
    return tuple(dict.fromkeys(names))


def _cpus(text: str) -> tuple[int, ...]:
    numbers = []
    for each in text.split(","):
        number = int(each) if each.strip().isascii() and each.strip().isdigit() else 0
        if not 1 <= number <= MOST_PROCESSORS:
            raise HeapwrightError(
                f"--cpus is numbers from 1 to {MOST_PROCESSORS} with commas, not {text!r}",
                "the processors are simulated: it does not matter how many this machine has",
            )
        numbers.append(number)
    return tuple(sorted(set(numbers)))


def _of_load(options: Options, models: tuple[str, ...], outputs: Outputs) -> KernelModels:
    assert options.load is not None
    cpus = _cpus(DEFAULT_CPUS if options.cpus is None else options.cpus)
    file = open_load(options.load)
    outputs.spare(Path(file.where))
    load = file.load
    other = {"operations": options.operations, "memory": options.memory}
    load = changed(load, {key: value for key, value in other.items() if value is not None})
    seed = fresh_seed() if options.seed is None else options.seed
    if options.kept_trace is not None:
        _keep(options.kept_trace, load, cpus, seed)
    how = ModelRuns(models, options.rounds, options.counts)
    runs = [run_load(load, how, processors=each, seed=seed) for each in cpus]
    return KernelModels(
        heapwright_version=__version__,
        load=file.where,
        load_sha256=file.sha256,
        seed=seed,
        notes=_notes(runs),
        runs=tuple(runs),
    )


def _keep(text: str, load: KernelLoad, cpus: tuple[int, ...], seed: int) -> None:
    if len(cpus) != 1:
        raise HeapwrightError("-o keeps the traffic of one number of processors", "--cpus 4")
    with Destination(text, "-o").file() as trace:
        write_trace(load, trace, processors=cpus[0], seed=seed)


def _of_trace(
    options: Options, trace: Path, models: tuple[str, ...], outputs: Outputs
) -> KernelModels:
    given = {
        "--cpus": options.cpus,
        "--seed": options.seed,
        "--operations": options.operations,
        "--memory": options.memory,
        "-o": options.kept_trace,
    }
    for option, value in given.items():
        if value is not None:
            raise HeapwrightError(f"{option} is for loads: a trace fixes its events and processors")
    outputs.spare(trace)
    digest = _digest(trace)
    answer = run_trace(trace, ModelRuns(models, options.rounds, options.counts))
    kernel = answer.traffic.kernel
    notes = list(_notes([answer]))
    if not kernel.startswith(("none ", f"{MODELLED}.", f"{MODELLED} ", f"{MODELLED}-")):
        notes.append(
            f"the trace is of Linux {kernel}; slab, slob and slub are modelled after {MODELLED}: "
            "sizes and limits of the two may differ"
        )
    return KernelModels(
        heapwright_version=__version__,
        trace=str(trace),
        trace_sha256=digest,
        notes=tuple(notes),
        runs=(answer,),
    )


def _digest(trace: Path) -> str:
    digest = hashlib.sha256()
    try:
        with trace.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        raise HeapwrightError(
            f"the kernel trace {trace} cannot be read: {error.strerror or error}"
        ) from error
    return digest.hexdigest()


def _notes(runs: list[ModelsAnswer]) -> tuple[str, ...]:
    """Notes that change how the figures are read."""
    refused = {run.model: run.refused for answer in runs for run in answer.models if run.refused}
    return tuple(
        f"{model}: {count:,} requests were refused because the machine had no memory left"
        for model, count in refused.items()
    )


def _list() -> None:
    files: list[LoadFile] = [open_load(name) for name in load_names() if name != REFERENCE]
    rows = [
        (each.load.name, each.load.title, f"{each.load.operations:,}", f"{each.load.memory:,} MiB")
        for each in files
    ]
    with printing():
        make_console().print(Columns(("Load", "", "Operations", "Memory"), rows, left=2))
