# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The Conan 2 recipe: the headers, granary and the C library, built from the clone it lies in.

The package keeps the project's own CMake package, so find_package(heapwright COMPONENTS …) works as
without Conan. The components here are for other generators, such as PkgConfigDeps.
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy

SOURCES = (
    "CMakeLists.txt",
    "LICENSE",
    "catalogue/allocators.toml",
    "cmake/*",
    "include/*",
    "native/CMakeLists.txt",
    "native/capi/*",
    "native/preload/*",
    "src/heapwright/__init__.py",
)
"""What a build without the tool reads."""


class Heapwright(ConanFile):
    name = "heapwright"
    description = "Memory allocators from C++20 layers: headers, granary, and heaps for C"
    license = "Apache-2.0"
    topics = ("malloc", "allocator", "memory")
    settings = ("os", "arch", "compiler", "build_type")

    def set_version(self) -> None:
        text = self.clone.joinpath("src/heapwright/__init__.py").read_text(encoding="utf-8")
        self.version = re.findall('__version__ = "(.*)"', text)[0]

    @property
    def clone(self) -> Path:
        return Path(self.recipe_folder).parents[1]

    def export_sources(self) -> None:
        for pattern in SOURCES:
            copy(self, pattern, src=self.clone, dst=self.export_sources_folder)

    def validate(self) -> None:
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("heapwright needs Linux")

    def layout(self) -> None:
        cmake_layout(self)

    def generate(self) -> None:
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HEAPWRIGHT_TOOL"] = False
        toolchain.generate()

    def build(self) -> None:
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self) -> None:
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=Path(self.package_folder, "licenses"))

    def package_info(self) -> None:
        self.cpp_info.set_property("cmake_find_mode", "none")
        # The name without a suffix belongs to the headers, as in the project's own packages.
        self.cpp_info.set_property("pkg_config_name", "heapwright-all")
        parts = self.cpp_info.components
        parts["headers"].set_property("pkg_config_name", "heapwright")
        parts["headers"].builddirs = ["lib/cmake/heapwright"]
        parts["headers"].libdirs = []
        for name in ("c", "granary", "granary-static"):
            parts[name].set_property("pkg_config_name", f"heapwright-{name}")
            parts[name].requires = ["headers"]
        parts["c"].libs = ["heapwright-c"]
        # Flags, because a library would precede the flags that keep it.
        whole = ("-Wl,--push-state,--no-as-needed", "-lheapwright-granary", "-Wl,--pop-state")
        parts["granary"].exelinkflags = list(whole)
        parts["granary-static"].libs = [":libheapwright-granary.a"]
        parts["granary-static"].exelinkflags = ["-Wl,--undefined=malloc"]
