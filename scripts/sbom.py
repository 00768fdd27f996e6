# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Write the list of materials of wheels as SPDX 2.3 in JSON.

`sbom.py DOCUMENT WHEEL…` lists the wheels with their checksums, and the libraries of the metadata
and of the extras for users. The versions are those of this environment. It also lists what the
programs of each wheel are linked with statically. SOURCE_DATE_EPOCH is the time of creation, so
equal wheels and environments give equal documents. Exits with 1 if the document is not valid, and
with 2 for a wheel of an unknown machine.
"""

import hashlib
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from license_expression import ExpressionError, LicenseExpression, get_spdx_licensing
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from spdx_tools.spdx.model import (
    Actor,
    ActorType,
    Checksum,
    ChecksumAlgorithm,
    CreationInfo,
    Document,
    ExternalPackageRef,
    ExternalPackageRefCategory,
    Package,
    Relationship,
    RelationshipType,
    SpdxNoAssertion,
)
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
from spdx_tools.spdx.writer.json.json_writer import write_document_to_file

OF_MAINTAINERS = {"all", "dev", "release"}
"""Extras that are not listed: the others together, and tools of the developers."""
GLIBC = "LGPL-2.1-or-later"
LIBSTDCXX = "GPL-3.0-or-later WITH GCC-exception-3.1"
LINKED = {
    "x86_64": {"libc6-dev": GLIBC, "libstdc++-12-dev": LIBSTDCXX},
    "aarch64": {"libc6-dev-arm64-cross": GLIBC, "libstdc++-12-dev-arm64-cross": LIBSTDCXX},
}
"""Debian's packages that programs of a machine's wheel are linked with statically."""
CLASSIFIERS = {
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
}
LICENCES = get_spdx_licensing()
OWN_LICENCE = "Apache-2.0 AND GPL-2.0-only"
"""The patches of the kernel have the licence of the kernel."""
LONGEST = 60
"""A longer field `License` is the text of a licence, and no expression."""


def metadata_of(wheel: Path) -> Metadata:
    with ZipFile(wheel) as files:
        (name,) = [each for each in files.namelist() if each.endswith(".dist-info/METADATA")]
        return Metadata.from_email(files.read(name), validate=False)


def requirements(lines: list[str], extras: set[str]) -> Iterator[Requirement]:
    """The requirements that apply here, with these extras."""
    for line in lines:
        each = Requirement(line)
        if each.marker is None or any(
            each.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            yield each


def closure(lines: list[str], extras: set[str]) -> dict[str, Distribution]:
    """The installed distributions that these requirements lead to, by their canonical names."""
    found: dict[str, Distribution] = {}
    waiting = list(requirements(lines, extras))
    while waiting:
        each = waiting.pop()
        name = canonicalize_name(each.name)
        if name not in found:
            found[name] = distribution(each.name)
            waiting += requirements(found[name].requires or [], set(each.extras))
    return found


def licence_of(each: Distribution) -> LicenseExpression | SpdxNoAssertion:
    """The licence as an expression of SPDX, as far as the metadata states one."""
    fields = each.metadata.get_all
    stated = [*fields("License-Expression", []), *fields("License", [])]
    stated += [CLASSIFIERS.get(line, "") for line in fields("Classifier", [])]
    for text in filter(None, stated):
        if len(text) <= LONGEST:
            try:
                return LICENCES.parse(text, validate=True)
            except ExpressionError:
                continue
    return SpdxNoAssertion()


def identifier(text: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", text)


def package(name: str, version: str, licence: object, locator: str = "") -> Package:
    """A package without files; `locator` is its package URL."""
    references = (
        [ExternalPackageRef(ExternalPackageRefCategory.PACKAGE_MANAGER, "purl", locator)]
        if locator
        else []
    )
    return Package(
        spdx_id=identifier(name),
        name=name,
        version=version,
        download_location=SpdxNoAssertion(),
        files_analyzed=False,
        license_concluded=SpdxNoAssertion(),
        license_declared=licence,
        copyright_text=SpdxNoAssertion(),
        external_references=references,
    )


def debian_version(name: str) -> str:
    """The version of an installed package of Debian, or an empty text."""
    command = ["dpkg-query", "-W", "-f=${Version}", name]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


class UnknownMachineError(Exception):
    """The libraries that a wheel is linked with are not known."""


def machine_of(wheel: Path) -> str:
    """The machine of a wheel, from the tag in its name. Raises UnknownMachineError."""
    for machine in LINKED:
        if wheel.stem.endswith(f"_{machine}"):
            return machine
    raise UnknownMachineError(
        f"{wheel}: the name ends with no known machine ({', '.join(LINKED)}). "
        "LINKED in scripts/sbom.py has the packages that programs of each machine are linked with"
    )


def document(wheels: list[Path]) -> Document:
    """The whole document. The metadata of all wheels are equal."""
    metadata = metadata_of(wheels[0])
    lines = [str(each) for each in metadata.requires_dist or []]
    users = {str(each) for each in metadata.provides_extra or []} - OF_MAINTAINERS
    version = str(metadata.version)
    base, everything = closure(lines, set()), closure(lines, users)

    libraries = {
        name: package(name, each.version, licence_of(each), f"pkg:pypi/{name}@{each.version}")
        for name, each in sorted(everything.items())
    }
    packages = []
    relations = []
    digests = []
    for wheel in wheels:
        machine = machine_of(wheel)
        digests.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
        own = package(
            "heapwright", version, LICENCES.parse(OWN_LICENCE), f"pkg:pypi/heapwright@{version}"
        )
        own.spdx_id = identifier(f"heapwright-{machine}")
        own.file_name = wheel.name
        own.checksums = [Checksum(ChecksumAlgorithm.SHA256, digests[-1])]
        packages.append(own)
        relations.append(Relationship("SPDXRef-DOCUMENT", RelationshipType.DESCRIBES, own.spdx_id))
        for name, made in libraries.items():
            relations.append(
                Relationship(own.spdx_id, RelationshipType.DEPENDS_ON, made.spdx_id)
                if name in base
                else Relationship(
                    made.spdx_id, RelationshipType.OPTIONAL_DEPENDENCY_OF, own.spdx_id
                )
            )
        for name, licence in LINKED[machine].items():
            if found := debian_version(name):
                locator = f"pkg:deb/debian/{name}@{found}"
                made = package(name, found, LICENCES.parse(licence), locator)
                packages.append(made)
                relations.append(
                    Relationship(own.spdx_id, RelationshipType.STATIC_LINK, made.spdx_id)
                )
    packages += libraries.values()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    creation = CreationInfo(
        spdx_version="SPDX-2.3",
        spdx_id="SPDXRef-DOCUMENT",
        name=f"heapwright-{version}",
        data_license="CC0-1.0",
        document_namespace=f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, ''.join(digests))}",
        creators=[Actor(ActorType.ORGANIZATION, "The Heapwright authors")],
        created=datetime.fromtimestamp(epoch, UTC).replace(tzinfo=None),
    )
    return Document(creation, packages=packages, relationships=relations)


def main(to: Path, wheels: list[Path]) -> int:
    try:
        made = document(wheels)
    except UnknownMachineError as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 2
    faults = validate_full_spdx_document(made)
    for fault in faults:
        print(f"sbom: {fault.validation_message}", file=sys.stderr)
    if faults:
        return 1
    write_document_to_file(made, str(to), validate=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), [Path(each) for each in sys.argv[2:]]))
