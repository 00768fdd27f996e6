# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright kernel`: real kernels, one for each of their allocators, booted in a virtual machine.

This file is the group only; each verb has a file of its own. docs/how-to/kernel-study.md is the
manual page.
"""

from heapwright.cli import (
    kernel_boot,
    kernel_build,
    kernel_models,
    kernel_record,
    kernel_study,
    options,
)

app = options.application(
    name="kernel",
    help="The kernel's own allocators: kernels built and booted, one for each of them.",
    no_args_is_help=True,
)
app.command("build", epilog=kernel_build.EXAMPLES)(kernel_build.build)
app.command("boot", epilog=kernel_boot.EXAMPLES)(kernel_boot.boot)
app.command("record", epilog=kernel_record.EXAMPLES)(kernel_record.record)
app.command("models", epilog=kernel_models.EXAMPLES)(kernel_models.models)
app.command("study", epilog=kernel_study.EXAMPLES)(kernel_study.study)
