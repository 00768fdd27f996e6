# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The library of an allocator, made as CMake makes those of the catalogue.

How that is done is not written here: CMake leaves its flags and the names of its sources in
`compose.json` beside the catalogue. It leaves the template of the one small file in the headers.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Answer, Compiler, not_written

AGAIN = "build and install again"
KEYS = ("header", "name", "type", "PROJECT_VERSION", "entry_points")
"""What the template leaves open."""


class Recipe(BaseModel):
    """`compose.json`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: str
    compile: tuple[str, ...]
    sources: tuple[str, ...]
    """Below the folder of the entry points."""
    link: tuple[str, ...]
    libraries: tuple[str, ...]


def read_recipe(native: Path) -> Recipe:
    path = native / "compose.json"
    try:
        return Recipe.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise HeapwrightError(
            f"nothing can be composed with this installation: {error}", AGAIN
        ) from error
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise HeapwrightError(f"{path} cannot be read: {why}", AGAIN) from error


def build_library(
    compiler: Compiler, native: Path, folder: Path, entry: ComposedAllocator
) -> tuple[Path, Answer]:
    """Compile and link an entry whose header is in `folder` into a library beside it."""
    recipe = read_recipe(native)
    preload = native / "preload"
    source, library = folder / f"{entry.name}.cpp", folder / entry.library
    try:
        text = (preload / "library.cpp.in").read_text(encoding="utf-8")
    except OSError as error:
        raise HeapwrightError(
            f"nothing can be composed with this installation: {error}", AGAIN
        ) from error
    includes = (f"#include <preload/entry_points/{each}.inc>\n" for each in entry.entry_points)
    values = (entry.header, entry.name, entry.type, recipe.version, "".join(includes))
    for key, value in zip(KEYS, values, strict=True):
        text = text.replace(f"@{key}@", value)
    compile_ = [*recipe.compile, "-w", f"-I{folder}"]
    sources = [source, *(preload / each for each in recipe.sources)]
    exports = f"-Wl,--version-script={preload / 'exports.map'}"
    link = ["-shared", "-o", str(library), exports, *recipe.link, *recipe.libraries]
    try:
        source.write_text(text, encoding="utf-8")
        answer = compiler.build([*compile_, *sources, *link])
        source.unlink()
    except OSError as error:
        raise not_written(source, error) from error
    if answer.valid and not library.is_file():
        raise HeapwrightError(f"the compiler {compiler.name} made no library")
    return library, answer
