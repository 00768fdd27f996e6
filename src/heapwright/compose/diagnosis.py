# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The one line that matters about a stack that cannot be: which layer needs what from below."""

import re
from pathlib import Path

from heapwright.artefacts.composition.expression import Expression
from heapwright.artefacts.composition.layers import Layer, Toolbox
from heapwright.compose.compiler import Answer
from heapwright.compose.questions import Failure, Questions
from heapwright.compose.stack import at

CONCEPT_OF = re.compile(r"(?P<concept>[A-Z]\w*)<(?P<parameter>\w+)>")
GENERATED = ".cpp"
"""The suffix of generated files; those of the user and the library are headers."""
ASSERTED = re.compile(r"static[ _]assert")


def explain(failure: Failure, expression: Expression, toolbox: Toolbox) -> str:
    """What a rung needs from below, what is there instead, and what would do."""
    layer = failure.layer
    concept = failure.concept
    if match := CONCEPT_OF.fullmatch(concept):
        concept = match["concept"]
    if failure.parameter is None:
        where = "stand" if len(layer.heaps) == 1 else "be put together"
        condition = f": it asks for {_unbracketed(concept)}" if concept else ""
        below = [at(expression, (*failure.path, index)).name for index in layer.heaps]
        return f"{layer.name} cannot {where} on {' and '.join(below)}{condition}"
    parameter = layer.parameters[failure.parameter]
    given = at(expression, (*failure.path, failure.parameter))
    relation = "below it"
    if not parameter.is_heap:
        relation = f"for {parameter.name}"
    elif len(layer.heaps) > 1:
        relation += f" as {parameter.name}"
    line = (
        f"{layer.name} needs {_a(concept)} {relation}{_meaning(concept, toolbox)}, "
        f"and {given.name} is none"
    )
    giver = giver_of(layer, failure.parameter, given, toolbox)
    return f"{line}; {giver} gives one" if giver else line


def explain_completed(
    failure: Failure, own: Expression, expression: Expression, toolbox: Toolbox
) -> str:
    """The same for an `expression` that is the text of the user, `own`, with generated rungs on
    top. An error in a generated rung is caused by the rung below it."""
    if own in list(at(expression, failure.path).walk())[1:]:
        concept = failure.concept.partition("<")[0]
        needs = f"{failure.layer.name} needs {_a(concept)} below it{_meaning(concept, toolbox)}"
        return f"{_brief(own, toolbox)} cannot replace malloc: {needs}"
    return explain(failure, expression, toolbox)


def giver_of(layer: Layer, parameter: int, given: Expression, toolbox: Toolbox) -> str:
    """The layer that stands there in the layer's own example."""
    if layer.example is None or parameter >= len(layer.example.arguments):
        return ""
    example = layer.example.arguments[parameter]
    known = toolbox.find(example.name)
    return "" if known is None or example.name == given.name else example.name


def _a(concept: str) -> str:
    article = "an" if concept[:1] in "AEIOU" and not concept.startswith("Uni") else "a"
    return f"{article} {concept}"


def _unbracketed(condition: str) -> str:
    whole = condition.startswith("(") and condition.endswith(")")
    return condition[1:-1] if whole else condition


def _meaning(name: str, toolbox: Toolbox) -> str:
    """The verbs of a concept; where it has none of its own, the sentence above it."""
    concept = toolbox.concepts.get(name)
    if concept is None:
        return ""
    if concept.verbs:
        return f" ({', '.join(concept.verbs)})"
    meaning = concept.meaning.replace("`", "")
    return f" ({meaning[:1].lower()}{meaning[1:]})" if meaning else ""


def why(
    expression: Expression, questions: Questions, toolbox: Toolbox, known: Answer | None = None
) -> str:
    """Why an expression cannot be compiled. `known` is what the compiler said of it already."""
    found = questions.misfit(expression)
    if isinstance(found, Failure):
        return explain(found, expression, toolbox)
    answer = found or known
    complaint = answer.complaint if answer else None
    if complaint is None:
        return "it does not compile"
    path = questions.breaks(expression)
    text = complaint.text
    if ASSERTED.search(text):
        text = f"it demands {_asserted(complaint.file, complaint.line) or text}"
    rung = "" if path is None else f"{_brief(at(expression, path), toolbox)}: "
    file = Path(complaint.file)
    where = f" ({file.name}:{complaint.line})" if file.suffix != GENERATED else ""
    return f"{rung}{text}{where}"


def _asserted(file: str, line: int) -> str:
    """The condition of an assertion, read where it stands."""
    try:
        rest = "\n".join(Path(file).read_text(encoding="utf-8").splitlines()[line - 1 :])
    except (OSError, UnicodeDecodeError):
        return ""
    statement = rest.partition(";")[0]
    match = re.search(r"static_assert\s*\((?P<condition>.*)\)\s*$", statement, re.DOTALL)
    return " ".join(match["condition"].split()) if match else ""


def _brief(expression: Expression, toolbox: Toolbox) -> str:
    """A layer with its policies, without what is below it."""
    layer = toolbox.find(expression.name)
    heaps = layer.heaps if layer else ()
    policies = [str(each) for i, each in enumerate(expression.arguments) if i not in heaps]
    return f"{expression.name}<{', '.join(policies)}>" if policies else expression.name
