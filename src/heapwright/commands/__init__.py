# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of the verbs, one module for each: from checked options to a result.

The command line names a module as an attribute of this package, as in `commands.compare`. It is
imported at that moment, with the libraries that it needs. No other import is deferred.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heapwright.commands import (
        agree,
        allocators,
        analyse,
        attach,
        compare,
        compose,
        doctor,
        drag,
        explain,
        gate,
        history,
        kernel_boot,
        kernel_build,
        kernel_check,
        kernel_models,
        kernel_record,
        kernel_replay,
        kernel_study,
        limit,
        long_run,
        look,
        profile,
        programs,
        programs_new,
        programs_run,
        record,
        replay,
        report,
        run,
        study,
        study_from,
        study_run,
        study_status,
        study_worker,
        synth,
        tailor,
        tailor_advice,
        taxonomy,
        top,
        trace,
        trace_formats,
        tune,
        validate,
        workloads,
    )
else:

    def __getattr__(name: str) -> ModuleType:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")


__all__ = [
    "agree",
    "allocators",
    "analyse",
    "attach",
    "compare",
    "compose",
    "doctor",
    "drag",
    "explain",
    "gate",
    "history",
    "kernel_boot",
    "kernel_build",
    "kernel_check",
    "kernel_models",
    "kernel_record",
    "kernel_replay",
    "kernel_study",
    "limit",
    "long_run",
    "look",
    "profile",
    "programs",
    "programs_new",
    "programs_run",
    "record",
    "replay",
    "report",
    "run",
    "study",
    "study_from",
    "study_run",
    "study_status",
    "study_worker",
    "synth",
    "tailor",
    "tailor_advice",
    "taxonomy",
    "top",
    "trace",
    "trace_formats",
    "tune",
    "validate",
    "workloads",
]
