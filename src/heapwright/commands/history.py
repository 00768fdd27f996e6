# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright history`: reads a folder of documents, finds changes and prints them."""

from dataclasses import dataclass
from pathlib import Path

from heapwright.analysis.history.series import changes_of, series_of
from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.documents import parsed
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_folder
from heapwright.commands.gate import EXACT_MARGIN
from heapwright.commands.output import Outputs, name_page
from heapwright.commands.text import printing
from heapwright.report.console import make_console
from heapwright.report.history.page import page
from heapwright.report.history.summary import print_history

FEWEST = 3
MARGIN = 0.01


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    folder: Path
    responses: tuple[str, ...]
    """Empty: all."""
    error: float
    margin: float | None
    """None: `MARGIN`, and `EXACT_MARGIN` for exact counts."""
    html_file: str | None
    quiet: bool


def run_history(options: Options) -> bool:
    """Print the history; whether there is a change. Raises HeapwrightError."""
    outputs = Outputs(html=options.html_file)
    documents, notes = _read(options.folder)
    series = series_of(documents)
    if options.responses:
        known = {each.response for each in series}
        if strange := [each for each in options.responses if each not in known]:
            raise HeapwrightError(
                f"the documents have no {strange[0]}", f"they have {', '.join(sorted(known))}"
            )
        series = [each for each in series if each.response in options.responses]
    found = changes_of(
        series,
        error=options.error,
        margin=MARGIN if options.margin is None else options.margin,
        exact_margin=EXACT_MARGIN if options.margin is None else options.margin,
    )
    failure = outputs.write(html=lambda: page(options.folder.name, series, found, notes))
    with printing():
        print_history(
            make_console(outputs.stream), len(documents), series, found, notes, quiet=options.quiet
        )
    if failure is not None:
        raise failure
    name_page(outputs, failure, quiet=options.quiet)
    return bool(found)


def _read(folder: Path) -> tuple[list[tuple[str, Comparison]], list[str]]:
    """The documents of a folder, and a note for each file that cannot be read."""
    if not is_folder(folder):
        raise HeapwrightError(
            f"{folder} is not a folder", "store documents with: heapwright compare --store FOLDER"
        )
    documents: list[tuple[str, Comparison]] = []
    notes = []
    for file in sorted(folder.glob("*.json")):
        try:
            document = parsed(Comparison, file.read_bytes(), file, "a comparison")
        except (HeapwrightError, OSError) as error:
            notes.append(f"{file.name} is left out: {error}")
        else:
            documents.append((file.name, document))
    if not documents:
        raise HeapwrightError(
            f"{folder} has no comparison document",
            "\n".join([*notes, "store documents with: heapwright compare --store FOLDER"]),
        )
    if len(documents) < FEWEST:
        notes.append(
            f"{len(documents)} documents show no change: it takes at least 5 before a change and "
            "some after it"
        )
    return documents, notes
