# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command as a process: its streams, its errors and its exit status.

Errors that a user can cause are printed as a sentence and a hint on standard error. The exit status
is that of the error. A reader that closes the pipe (`| head`) ends the command silently.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn

from heapwright.base.errors import ExitCode, HeapwrightError

SHORT_OF = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EAGAIN)
LIMITS = "`ulimit -a` shows the limits that are set here, `df` whether a disk is full"


def leave_after(work: Callable[[], object]) -> NoReturn:
    """Do the work and leave with its exit status."""
    status: int = ExitCode.OK
    _open_standard_streams()
    try:
        work()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except HeapwrightError as error:
        status = error.exit_code
        _print_error(error)
    except BrokenPipeError:
        status = 128 + signal.SIGPIPE
    except (OSError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno not in SHORT_OF:
            raise
        why = error.strerror if isinstance(error, OSError) else "no memory"
        status = ExitCode.NOTHING_COMPARED
        _print_error(HeapwrightError(f"the system gives heapwright too little: {why}", LIMITS))
    except KeyboardInterrupt:
        status = ExitCode.INTERRUPTED
    sys.exit(_flushed(status))


def _open_standard_streams() -> None:
    """Open /dev/null in place of a closed standard stream. A closed stream is no error.

    Otherwise a file opened later could get the number of the stream, and with it the printed text.
    """
    missing = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in missing:
        descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
        setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", closefd=False))


def _print_error(error: HeapwrightError) -> None:
    """The console takes longer to import than the version takes to print. If standard error cannot
    be written either, the exit status alone says it."""
    try:
        import_module("heapwright.cli.errors").print_error(error)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _flushed(status: int) -> int:
    """Flush while an error can still be dealt with; the interpreter would print a traceback."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        status = status or 128 + signal.SIGPIPE
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        _print_error(HeapwrightError(f"the result could not be printed: {error.strerror}"))
        status = status or ExitCode.NOT_WRITTEN
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status
