# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How an error looks on standard error."""

from rich.console import Console

from heapwright.base.errors import HeapwrightError


def print_error(error: HeapwrightError) -> None:
    """Print the sentence and the hint."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("[bold red]heapwright:[/] ", end="")
    console.print(error.message, markup=False)
    for line in error.hint.splitlines():
        console.print(f"  {line}", markup=False)
