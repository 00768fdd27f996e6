# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel`: real kernels, one for each of their allocators, booted in a virtual machine.

This file is the group only; each verb has a file of its own. docs/how-to/kernel-study.md is the
manual page.
"""

from heapwright.cli import (
    kernel_boot,
    kernel_build,
    kernel_check,
    kernel_models,
    kernel_record,
    kernel_replay,
    kernel_study,
    options,
)

HELP = """\
Build and boot kernels, one for each kernel allocator, and model these allocators.

Examples:
  heapwright kernel models --load churn
  heapwright kernel study --scale small
"""

app = options.application(
    name="kernel",
    help=HELP,
    no_args_is_help=True,
)
app.command("build")(kernel_build.build)
app.command("boot")(kernel_boot.boot)
app.command("check")(kernel_check.check)
app.command("record")(kernel_record.record)
app.command("replay")(kernel_replay.replay)
app.command("models")(kernel_models.models)
app.command("study")(kernel_study.study)
