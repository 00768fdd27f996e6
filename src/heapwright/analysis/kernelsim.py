# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distance of a model from the kernel on which a trace was recorded.

Each mark of a trace has the kernel's figures, and the model was sampled at the same place. Two
figures are compared: the slab memory, and its increase since the first mark. Memory from before the
first event is not in a trace, and only the second figure is free of it.
"""

from heapwright.artefacts.kernelsim.document import KernelModels, ModelError, ModelRun


def model_error(run: ModelRun) -> ModelError | None:
    """None for a run without marks, or beside a kernel that had no slab memory."""
    marked = [(each, each.recorded) for each in run.samples if each.recorded is not None]
    pairs = [(each.slab_pages, recorded.slab_pages) for each, recorded in marked]
    if not pairs or any(kernel == 0 for _, kernel in pairs):
        return None
    models, kernels = (sum(column) for column in zip(*pairs, strict=True))
    grown = kernels - len(pairs) * pairs[0][1]
    last, recorded = marked[-1]
    return ModelError(
        model=run.model,
        marks=len(pairs),
        kernel_pages=kernels / len(pairs),
        model_pages=models / len(pairs),
        mean_error=models / kernels - 1,
        worst_error=max((model / kernel - 1 for model, kernel in pairs), key=abs),
        growth_error=(models - len(pairs) * pairs[0][0]) / grown - 1 if grown > 0 else None,
        kernel_events=recorded.fragmentation_events,
        model_events=last.fragmentation_events,
    )


def model_errors(document: KernelModels) -> tuple[ModelError, ...]:
    """Of every model; empty for a load, which no kernel ran."""
    runs = (run for answer in document.runs for run in answer.models)
    return tuple(near for run in runs if (near := model_error(run)) is not None)
