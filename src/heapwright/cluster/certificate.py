# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The certificate of a study. A process that holds it may lead the study's hosts or be one of them.

One self-signed certificate with its key is made for each sitting of a study and serves all sides,
the scheduler, its client and the workers. Each side accepts nothing but this certificate. It lies
in a file that its owner alone can read, and is gone after the sitting.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heapwright.base.errors import HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.cluster.dask_package import distributed

NAME = "certificate.pem"
DAYS = 3650
"""The key is gone long before."""
SECONDS = 60.0


@contextlib.contextmanager
def temporary_certificate() -> Iterator[Path]:
    """A new certificate and its key in one file. Raises HeapwrightError without openssl."""
    with Scratch() as folder:
        key, path = folder / "key.pem", folder / "public.pem"
        command = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", str(DAYS), "-subj", "/CN=heapwright-study",
            "-keyout", str(key), "-out", str(path),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _not_made(str(error)) from error
        if done.returncode:
            raise _not_made(done.stderr.strip().rpartition("\n")[2])
        yield kept(folder, path.read_bytes() + key.read_bytes())


def kept(folder: Path, text: bytes) -> Path:
    """Write a certificate and its key into a file that its owner alone can read."""
    path = folder / NAME
    path.touch(mode=0o600)
    path.write_bytes(text)
    return path


def security_of(path: Path) -> Any:
    """Dask's settings for connections that need this certificate on both ends."""
    text = str(path)
    try:
        security = distributed().Security(
            require_encryption=True,
            tls_ca_file=text,
            tls_client_cert=text,
            tls_scheduler_cert=text,
            tls_worker_cert=text,
        )
        security.get_connection_args("worker")  # reads the file
    except OSError as error:
        raise HeapwrightError(
            f"the certificate {path} cannot be used: {error.strerror or error}",
            "`heapwright study run` names the file when it waits for hosts; copy it to each host",
        ) from error
    return security


def _not_made(why: str) -> HeapwrightError:
    return HeapwrightError(
        f"openssl cannot make a certificate for the study: {why}",
        "install openssl; or, on a network of your own, let workers in without one (--insecure)",
    )
