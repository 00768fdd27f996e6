# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright report`, after its options are read: find the kind, draw, write.

Destinations and the browser for a PDF are tested before anything is read. A page is made once for
all its destinations.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapwright.artefacts.documents import parsed
from heapwright.artefacts.study_results.compact import write_compact
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.artefacts.study_results.runs import StudyRun
from heapwright.artefacts.taxonomy.document import Taxonomy
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.extras import PAGES, need
from heapwright.base.paths import is_trace
from heapwright.commands.analyse import analyse_results
from heapwright.commands.disturbance_notes import machine_notes
from heapwright.commands.output import Destination, Outputs
from heapwright.commands.slow_steps import reporting_steps
from heapwright.commands.text import printing
from heapwright.profile.reader import is_document, read_profile
from heapwright.report.console import make_console
from heapwright.report.pages.export import export
from heapwright.report.pages.latex import latex
from heapwright.report.pages.parts import Charts, Spec
from heapwright.report.pages.pdf import browser, write_pdf
from heapwright.report.profile.page import page as profile_page
from heapwright.report.profile.page import sections
from heapwright.report.study.markdown import conclusions_of
from heapwright.report.study.markdown import page as markdown_page
from heapwright.report.study.page import page as study_page
from heapwright.report.study.page import papers_of, wanted
from heapwright.report.study.view import StudyView
from heapwright.report.taxonomy.page import page as taxonomy_page
from heapwright.report.taxonomy.page import specs_of

OTHERS = {
    "comparison": ({"effects", "verdict", "runs"}, "`heapwright compare` prints its report itself"),
    "analysis of a study": (
        {"factors", "verdict", "responses"},
        "name the folder of its results: the page shows every run",
    ),
}
"""Heapwright documents without a page, by their keys, and the advice for each."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    sources: tuple[Path, ...]
    output: str | None
    pdf: str | None
    figures: Path | None
    latex: str | None
    runs: Path | None
    process: int | None
    quiet: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """The page and the figures of the sources, each made at its first use."""

    page: Callable[[], str]
    figures: Callable[[], Mapping[str, Spec]]
    sentence: str = ""
    study: "Study | None" = None
    """The study that the results are of."""


@dataclass(frozen=True, slots=True)
class Study:
    """Results of a study, of which more than a page can be written."""

    results: Results
    view: StudyView


def run_report(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    outputs = _outputs(options)
    printed = _printed(options, outputs["output"])
    with reporting_steps(quiet=options.quiet) as tell:
        tell("reading and analysing what was measured")
        subject = _subject(options)
        _refuse_without_study(subject, options)
        tell("making the page")
        markdown = _markdown(subject, options)
        for_output = options.output is not None and not markdown
        wanted_html = for_output or printed is not None or options.latex is not None
        page = subject.page() if wanted_html else ""
        failure = outputs.write(output=lambda: markdown or page, latex=lambda: latex(page))
        lines = [f"page: {options.output}"] if options.output not in (None, "-") else []
        if options.latex not in (None, "-"):
            lines.append(f"tables: {options.latex}")
        if printed is not None:
            tell("printing the page as a PDF")
            write_pdf(page, printed)
            lines.append(f"PDF: {options.pdf}")
        if options.figures is not None:
            tell("drawing the figures")
            lines.append(_export(subject, options.figures))
        if options.runs is not None:
            tell("writing the runs")
            _write_runs(subject, options.runs)
            lines.append(f"runs: {options.runs}")
    if failure is not None:
        raise failure
    if not options.quiet:
        with printing():
            console = make_console(outputs.stream)
            for line in filter(None, (subject.sentence, *lines)):
                console.print(line)
    return ExitCode.OK


def _refuse_without_study(subject: Subject, options: Options) -> None:
    if subject.study is not None:
        return
    if options.runs is not None:
        raise HeapwrightError("--runs needs the results of a study")
    if _is_markdown(options):
        raise HeapwrightError(
            f"only a study has a page in Markdown: {options.output}", "name an .html file"
        )


def _is_markdown(options: Options) -> bool:
    return Path(options.output or "").suffix == ".md"


def _markdown(subject: Subject, options: Options) -> str:
    """The page, if the output is a file in Markdown. It keeps the conclusions of an earlier one."""
    if subject.study is None or not _is_markdown(options):
        return ""
    path = Path(options.output or "")
    earlier = path.read_text(encoding="utf-8") if path.is_file() else ""
    return markdown_page(subject.study.view, conclusions_of(earlier))


def _write_runs(subject: Subject, folder: Path) -> None:
    if subject.study is not None:
        write_compact(subject.study.results, folder, wanted(subject.study.view))


def _outputs(options: Options) -> Outputs:
    named = (options.output, options.pdf, options.figures, options.latex, options.runs)
    if not any(named):
        raise HeapwrightError(
            "no destination is named",
            "name a page (-o FILE), --pdf FILE, --figures DIR, --latex FILE, or --runs DIR",
        )
    if options.figures is not None and options.figures.exists() and not options.figures.is_dir():
        raise HeapwrightError(f"--figures {options.figures} is no folder")
    if any(named[:-1]):
        need(*PAGES)
    return Outputs(output=options.output, latex=options.latex)


def _printed(options: Options, page: Destination | None) -> Path | None:
    """The destination of the PDF; refused at once without a browser that prints it."""
    if options.pdf is None:
        return None
    path = Destination(options.pdf, "--pdf").path
    if path is None:
        raise HeapwrightError("a PDF is written to a file, not to standard output")
    if page is not None and page.path == path:
        raise HeapwrightError("--output and --pdf cannot write to the same place")
    browser()
    return path


def _export(subject: Subject, folder: Path) -> str:
    try:
        written = export(subject.figures(), folder)
    except OSError as error:
        raise HeapwrightError(
            f"--figures {folder} could not be written: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    figures = sum(path.suffix == ".svg" for path in written)
    return f"figures: {figures} as SVG, PNG and CSV in {folder}"


def _subject(options: Options) -> Subject:
    """The kind of the sources: folders are the results of a study, a file is another kind."""
    first = options.sources[0]
    if options.process is not None and not first.is_file():
        raise HeapwrightError("--process needs a trace, and there is none")
    if first.is_dir() or not first.exists():
        return _study(options.sources)
    if len(options.sources) > 1:
        raise HeapwrightError(
            "several sources are folders of one study", "a profile is reported by itself"
        )
    keys = _keys_of(first)
    if {"criteria", "rows", "plan"} <= keys:
        return _taxonomy(first)
    for name, (having, instead) in OTHERS.items():
        if having <= keys:
            raise HeapwrightError(
                f"{first} is the document of a {name}, which has no page", instead
            )
    if not (is_trace(first) or is_document(first)):
        raise HeapwrightError(
            f"{first} is neither a trace nor a document of Heapwright",
            "name one, or the folder that `heapwright study run -o` wrote",
        )
    return _profile(first, options.process)


def _keys_of(path: Path) -> set[str]:
    """The keys at the top of a JSON document; none for another file."""
    try:
        with path.open("rb") as file:
            if file.read(1) != b"{":
                return set()
            file.seek(0)
            return set(json.load(file))
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError:
        return set()


def _study(folders: Sequence[Path]) -> Subject:
    study = read_study(folders)
    view = study.view
    text = view.analysis.verdict.text
    return Subject(lambda: study_page(view), lambda: papers_of(view), text, study)


def read_study(folders: Sequence[Path]) -> Study:
    """Read and analyse results, with all data of the few runs that the page shows in detail."""
    results = open_results(*folders)
    view = StudyView(
        analysis=analyse_results(results),
        design=results.design,
        frame=results.frame(),
        hosts=results.environments,
        study_text=results.study_text,
        folders=tuple(map(str, folders)),
        notes=(*results.notes, *_disturbances(results)),
    )
    runs = {run.key: run for run in results.whole_runs(wanted(view))}
    return Study(results, replace(view, runs=runs))


def _disturbances(results: Results) -> Iterator[str]:
    """What disturbed the runs on each host."""
    runs: dict[str, list[StudyRun]] = {}
    for run in results.runs():
        runs.setdefault(run.host, []).append(run)
    for name, host in results.environments.items():
        for note in machine_notes(runs.get(name, []), host.cpus):
            yield f"{name}: {note}" if len(results.environments) > 1 else note


def _taxonomy(path: Path) -> Subject:
    document = parsed(Taxonomy, path.read_text(encoding="utf-8"), path, "a taxonomy")
    return Subject(lambda: taxonomy_page(document), lambda: specs_of(document))


def _profile(path: Path, process: int | None) -> Subject:
    profile = read_profile(path, process)

    def figures() -> Mapping[str, Spec]:
        charts = Charts()
        sections(profile, charts)
        return charts.specs

    return Subject(lambda: profile_page(profile), figures)
