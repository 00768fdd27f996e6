# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The instructions of the Dockerfile, and its stages built without a container runtime.

A stage is a folder. Its instructions run in it with chroot, in a mount namespace of their own. This
is enough for what the file uses: FROM, RUN, COPY, ENV and ENTRYPOINT.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[3]
DOCKERFILE = ROOT / "packaging" / "containers" / "Dockerfile"
CERTIFICATES = "/tmp/certificates.crt"
"""Of this machine, in case that it reaches the network through others than the public ones."""


@dataclass(frozen=True)
class Stage:
    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)


def stages() -> dict[str, Stage]:
    """The stages by name, in the order of the file."""
    lines = DOCKERFILE.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if line and not line.startswith("#"))
    found: dict[str, Stage] = {}
    for line in text.replace("\\\n", " ").splitlines():
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            base, _, name = rest.partition(" AS ")
            found[name] = Stage(name, base)
        else:
            found[[*found][-1]].steps.append((instruction, rest.strip()))
    return found


@dataclass
class Image:
    """A built stage."""

    root: Path
    environment: dict[str, str]
    entrypoint: tuple[str, ...] = ()

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command in the image, with the image's variables and these."""
        mounts = " && ".join(f'mount --rbind /{each} "$0/{each}"' for each in ("proc", "dev"))
        enter = ["unshare", "--mount", "sh", "-c", f'{mounts} && exec chroot "$0" "$@"']
        variables = {**self.environment, **environment}
        settings = [f"{name}={value}" for name, value in variables.items()]
        return subprocess.run(
            [*enter, self.root, "env", "-i", *settings, *command],
            capture_output=True,
            text=True,
            check=False,
        )

    def sh(self, script: str) -> None:
        done = self.run("/bin/sh", "-c", script)
        assert done.returncode == 0, f"{script}\n{(done.stdout + done.stderr)[-4000:]}"


def debian(folder: Path) -> Image:
    """A minimal Debian 12 like the image of that name."""
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    shutil.copy("/etc/resolv.conf", folder / "etc" / "resolv.conf")
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    ours = Path(os.environ.get("PIP_CERT", "/etc/ssl/certs/ca-certificates.crt"))
    if ours.exists():
        shutil.copy(ours, folder / CERTIFICATES.lstrip("/"))
        environment["PIP_CERT"] = CERTIFICATES
    return Image(folder, environment)


def copied(image: Image, folder: Path) -> Image:
    """The same image in another folder."""
    subprocess.run(["cp", "-a", image.root, folder], check=True)
    return Image(folder, dict(image.environment))


def built(stage: Stage, others: dict[str, Image], folder: Path) -> Image:
    """The image of a stage, from the images of its base and of earlier stages."""
    if stage.base == "scratch":
        folder.mkdir()
        image = Image(folder, {})
    else:
        image = copied(others[stage.base], folder)
    for instruction, rest in stage.steps:
        if instruction == "RUN":
            image.sh(rest)
        elif instruction == "ENV":
            name, _, value = rest.partition("=")
            image.environment[name] = value.replace("$PATH", image.environment.get("PATH", ""))
        elif instruction == "COPY":
            _copy(rest, image, others)
        else:
            assert instruction == "ENTRYPOINT"
            image.entrypoint = tuple(re.findall(r'"([^"]*)"', rest))
    return image


def _copy(rest: str, image: Image, others: dict[str, Image]) -> None:
    *options, source, target = rest.split()
    place = image.root / target.lstrip("/")
    if not options:
        assert source == "."
        listing = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
        )
        for name in filter(None, listing.stdout.decode().split("\0")):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name, follow_symlinks=False)
        return
    (found,) = others[options[0].removeprefix("--from=")].root.glob(source.lstrip("/"))
    place.parent.mkdir(parents=True, exist_ok=True)
    if target.endswith("/"):
        place.mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", found, place], check=True)
