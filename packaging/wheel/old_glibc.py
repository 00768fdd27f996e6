# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a folder of libraries to link with, so that the result also runs with an older glibc.

    python packaging/wheel/old_glibc.py COMPILER FOLDER

A stub of each library has the symbols that glibc 2.28 and the libstdc++ of manylinux_2_28 have, at
their old versions, and no code. glibc 2.34 moved functions from libpthread, libdl and librt into
libc; their stubs have them again. What is newer is an error of the linker, or comes from
old_glibc/ or from the static libstdc++. `-L FOLDER` puts these libraries before the system's.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11)}
"""The highest versions that the policy of manylinux_2_28 permits."""
MOVED = {
    "libdl.so.2": r"dl(addr|addr1|close|error|info|mopen|open|sym|vsym)$",
    "librt.so.1": r"(aio_|lio_|mq_|shm_|timer_)",
    "libpthread.so.0": r"(pthread_|sem_)",
}
"""Where glibc 2.28 has a function that libc of 2.34 has: the library, and a pattern of names."""
START = "__libc_start_main"
"""Programs call the one of old_glibc/start.c, which calls that of the C library by its version."""
FUNCTIONS = {"STT_FUNC", "STT_LOOS", "STT_GNU_IFUNC"}
EXTRA = ("-shared", "-nostdlib", "-Wl,--hash-style=gnu")
AS_C = ("-x", "c", "-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror")


class Symbol(NamedTuple):
    """A symbol as a library exports it."""

    name: str
    version: str
    default: bool
    kind: str
    weak: bool
    address: int
    size: int


def number(version: str) -> tuple[str, tuple[int, ...]] | None:
    """The family and the number of a version such as GLIBC_2.17."""
    family, _, text = version.partition("_")
    if family not in NEWEST or not re.fullmatch(r"[0-9.]+", text):
        return None
    return family, tuple(int(part) for part in text.split("."))


def exported(library: Path) -> Iterator[Symbol]:
    """All symbols of a library that have a version."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".dynsym")
        numbers = elf.get_section_by_name(".gnu.version")
        definitions = elf.get_section_by_name(".gnu.version_d")
        assert isinstance(symbols, SymbolTableSection)
        assert isinstance(numbers, GNUVerSymSection)
        assert isinstance(definitions, GNUVerDefSection)
        names = {
            entry["vd_ndx"]: next(iter(auxiliary)).name
            for entry, auxiliary in definitions.iter_versions()
        }
        for symbol, entry in zip(symbols.iter_symbols(), numbers.iter_symbols(), strict=True):
            index = entry["ndx"]
            if symbol["st_shndx"] == "SHN_UNDEF" or isinstance(index, str):
                continue
            kind = "function" if symbol["st_info"]["type"] in FUNCTIONS else "object"
            version = names[index & 0x7FFF]
            if symbol["st_info"]["type"] != "STT_TLS" and symbol.name != version:
                weak = symbol["st_info"]["bind"] == "STB_WEAK"
                place = symbol["st_value"], symbol["st_size"]
                yield Symbol(symbol.name, version, not index & 0x8000, kind, weak, *place)


def old_symbols(library: Path) -> Iterator[Symbol]:
    """Of each name the newest version that is old enough. A function of which only compatibility
    is left, such as gets, is not among them, except where a newer version replaced it."""
    versions: dict[str, list[tuple[tuple[int, ...], Symbol]]] = {}
    for symbol in exported(library):
        if (found := number(symbol.version)) is not None:
            versions.setdefault(symbol.name, []).append((found[1], symbol))
    for name, each in versions.items():
        family = each[0][1].version.partition("_")[0]
        old = [pair for pair in each if pair[0] <= NEWEST[family]]
        if old and (any(symbol.default for _, symbol in each) or name.startswith("__")):
            yield max(old)[1]


def home(symbol: Symbol, library: str) -> str:
    """The library that had this symbol before glibc 2.34."""
    for other, pattern in MOVED.items() if library == "libc.so.6" else ():
        if not symbol.default and re.match(pattern, symbol.name):
            return other
    return library


def write_stub(compiler: list[str], library: Path, symbols: list[Symbol]) -> None:
    """A library with these symbols and no code."""
    lines = []
    nodes = sorted({symbol.version for symbol in symbols})
    # Names of one object, such as environ and __environ, stay together. A program that has a copy
    # of the object has it under all of its names.
    places: dict[tuple[str, int], list[tuple[str, Symbol]]] = {}
    for index, symbol in enumerate(symbols):
        place = places.setdefault((symbol.kind, symbol.address), [])
        place.append((f"stub{index}", symbol))
    for together in places.values():
        for label, symbol in together:
            at = "@" if symbol.name == START else "@@"
            lines += [
                f".{'weak' if symbol.weak else 'globl'} {label}",
                f".type {label}, %{symbol.kind}",
                f".size {label}, {symbol.size}",
                f".symver {label}, {symbol.name}{at}{symbol.version}, remove",
                f"{label}:",
            ]
        lines += [f".skip {max(1, *(symbol.size for _, symbol in together))}", ".balign 32"]
    source, script = library.with_suffix(".s"), library.with_suffix(".map")
    source.write_text(".data\n" + "\n".join(lines) + "\n", encoding="utf-8")
    script.write_text("".join(f"{node} {{}};\n" for node in nodes), encoding="utf-8")
    named = f"-Wl,-soname,{library.name},--version-script={script}"
    subprocess.run([*compiler, *EXTRA, named, "-o", library, source], check=True)


def found(compiler: list[str], name: str) -> Path:
    """The library that this compiler links with."""
    command = [*compiler, f"-print-file-name={name}"]
    path = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    if not path.is_absolute():
        raise SystemExit(f"old_glibc: {compiler[0]} has no {name}")
    return path


def make(compiler: list[str], folder: Path) -> None:
    """All libraries of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    stubs: dict[str, list[Symbol]] = {name: [] for name in MOVED}
    for library in ("libc.so.6", "libm.so.6", "libstdc++.so.6"):
        for symbol in old_symbols(found(compiler, library)):
            stubs.setdefault(home(symbol, library), []).append(symbol)
    for name, symbols in stubs.items():
        write_stub(compiler, folder / name, symbols)
    objects = []
    for source in sorted((Path(__file__).parent / "old_glibc").glob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        subprocess.run([*compiler, *AS_C, "-c", source, "-o", objects[-1]], check=True)
    archive = folder / "libold_glibc.a"
    archive.unlink(missing_ok=True)
    ar = subprocess.run(
        [*compiler, "-print-prog-name=ar"], capture_output=True, text=True, check=True
    ).stdout.strip()
    subprocess.run([ar, "rcsD", archive, *objects], check=True)
    loader = next(iter(found(compiler, "libc.so.6").parent.glob("ld-linux-*.so.*")))
    nonshared = found(compiler, "libc_nonshared.a")
    needed = " ".join(str(folder / name) for name in MOVED)
    scripts = {
        "libc.so": f"{folder}/libc.so.6 {archive} {nonshared} AS_NEEDED ( {needed} {loader} )",
        "libm.so": f"{folder}/libm.so.6",
        "libstdc++.so": f"{folder}/libstdc++.so.6 {found(compiler, 'libstdc++.a')}",
        **{name.rpartition(".so")[0] + ".so": f"AS_NEEDED ( {folder / name} )" for name in MOVED},
    }
    for name, group in scripts.items():
        (folder / name).write_text(f"GROUP ( {group} )\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    make(sys.argv[1].split(), Path(sys.argv[2]).absolute())
