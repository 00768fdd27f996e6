# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Names for addresses: from lines, from symbols, from neither; never from another build."""

import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.profile.calls import Call, Calls, CodeObject, Function
from heapwright.profile.symbols import elf_symbols, lines, objects
from heapwright.profile.symbols.demangler import demangled
from heapwright.profile.symbols.names import CUT, in_object, named_calls

PROGRAM = """
namespace shop { struct Cart { int add(int n); }; }
static inline __attribute__((always_inline)) int twice(int n) { return n * 2 + (n ^ 5); }
int shop::Cart::add(int n) {
    volatile int v = twice(n);
    return v;
}
static inline __attribute__((always_inline)) int halved(int n) { volatile int v = n; return v / 2; }
__attribute__((noinline)) static int rest(int n) { return halved(n) + 1; }
int main(int argc, char**) { shop::Cart cart; return cart.add(argc) + rest(argc) == 0; }
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same program with lines (`lines`), with symbols only, and without either."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler (package g++)")
    folder = tmp_path_factory.mktemp("symbols")
    source = folder / "shop.cpp"
    source.write_text(PROGRAM, encoding="utf-8")
    for name, flags in (("lines", ["-g"]), ("symbols", []), ("bare", ["-s"])):
        words = [compiler, "-O1", "-Wl,--build-id", *flags, str(source), "-o", str(folder / name)]
        subprocess.run(words, check=True)
    return folder


def code_of(path: Path) -> CodeObject:
    return CodeObject(path=str(path), build_id=objects.build_id(path) or "")


def address_of_add(path: Path) -> int:
    return address_of(path, "_ZN4shop4Cart3addEi")


def address_of(path: Path, name: str) -> int:
    symbols = elf_symbols.read([path])
    return symbols.begins[symbols.names.index(name)]


def tree(code: CodeObject, *addresses: int) -> Calls:
    nodes = [Call(0, 0, 0, 1, 1, 0, 0)]
    nodes += [Call(i, 0, address, 1, 1, 0, 0) for i, address in enumerate(addresses)]
    return Calls(objects=(code,), nodes=tuple(nodes))


def test_a_symbol_names_all_of_its_function_and_nothing_else(built: Path) -> None:
    path = built / "symbols"
    symbols = elf_symbols.read([path])
    begin = address_of_add(path)
    end = symbols.ends[symbols.begins.index(begin)]
    assert end > begin
    assert symbols.at(begin) == symbols.at(end - 1) == "_ZN4shop4Cart3addEi"
    assert symbols.at(end) != "_ZN4shop4Cart3addEi"
    assert symbols.at(0) is None


def test_lines_tell_the_place_and_what_was_inlined(built: Path) -> None:
    if shutil.which(lines.PROGRAM) is None:
        pytest.skip("needs addr2line (package binutils)")
    path = built / "lines"
    begin = address_of_add(path)
    named = [in_object(code_of(path), [begin + at])[begin + at] for at in range(12)]
    outer = {functions[0].name for functions in named}
    assert outer in ({"_ZN4shop4Cart3addEi"}, {"shop::Cart::add"})
    inlined = [functions for functions in named if len(functions) == 2]
    assert inlined, "twice() is inlined somewhere within the first bytes"
    assert inlined[0][1].file.endswith("shop.cpp")
    assert inlined[0][1].line == 3
    assert {functions[1].name for functions in inlined} <= {"twice", "_ZL5twicei"}


def test_a_static_function_that_is_inlined_in_another_has_its_own_name(built: Path) -> None:
    if shutil.which(lines.PROGRAM) is None:
        pytest.skip("needs addr2line (package binutils)")
    path = built / "lines"
    begin = address_of(path, "_ZL4resti")
    inlined = [each for each in lines.places(path, range(begin, begin + 12)).values() if each[1:]]
    assert inlined, "halved() is inlined somewhere within the first bytes"
    assert {functions[-1].name for functions in inlined} <= {"halved", "_ZL6halvedi"}


def test_calls_are_named_in_plain_words(built: Path) -> None:
    if shutil.which("c++filt") is None:
        pytest.skip("needs c++filt (package binutils)")
    path = built / "symbols"
    named = named_calls(tree(code_of(path), address_of_add(path)))
    assert [named.functions[i].name for i in named.frames[1]] == ["shop::Cart::add(int)"]
    assert named.frames[0] == (0,)


def test_an_unnamed_function_is_called_by_object_and_address(built: Path) -> None:
    path = built / "bare"
    address = address_of_add(built / "symbols")
    assert in_object(code_of(path), [address]) == {address: (Function(name=f"bare+{address:#x}"),)}


def test_another_build_lends_no_names(built: Path) -> None:
    path = built / "symbols"
    other = CodeObject(path=str(path), build_id="00" * 20)
    address = address_of_add(path)
    assert in_object(other, [address])[address][0].name == f"symbols+{address:#x}"
    gone = CodeObject(path=str(built / "gone"), build_id="")
    assert in_object(gone, [16])[16][0].name == "gone+0x10"


def test_a_file_that_is_no_object_has_no_names(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("not an object")
    assert objects.build_id(file) is None
    assert not lines.has_lines(file)
    assert elf_symbols.read([file]).at(5) is None


def test_a_debug_file_is_found_by_its_build(built: Path, tmp_path: Path) -> None:
    path = built / "lines"
    build = objects.build_id(path) or ""
    place = tmp_path / ".build-id" / build[:2] / f"{build[2:]}.debug"
    place.parent.mkdir(parents=True)
    shutil.copy(path, place)
    found = objects.find(CodeObject(path="/nowhere", build_id=build), (tmp_path,))
    assert found.code is None
    assert found.files == (place,)


def test_places_outside_of_objects_and_cut_chains() -> None:
    calls = Calls(
        objects=(),
        nodes=(Call(0, 0, 0, 1, 1, 0, 0), Call(0, 1, 0, 1, 1, 0, 0), Call(1, 0, 255, 1, 1, 0, 0)),
    )
    named = named_calls(calls)
    names = [[named.functions[i] for i in frame] for frame in named.frames]
    assert names[1:] == [[CUT], [Function(name="0xff")]]


def test_answers_of_addr2line_are_read() -> None:
    text = (
        "0x0000000000001139\ninner\n/src/a.c:3 (discriminator 2)\nouter\n/src/a.c:9\n"
        "0x0000000000002000\n??\n??:0\n0x0000000000002001\nalone\n??:?\n"
    )
    assert dict(lines.parsed(text)) == {
        0x1139: (
            Function(name="outer", file="/src/a.c", line=9),
            Function(name="inner", file="/src/a.c", line=3),
        ),
        0x2001: (Function(name="alone"),),
    }


def test_plain_names_are_left_alone() -> None:
    assert demangled(["main", "with space"]) == {}


def test_a_function_in_words() -> None:
    assert Function(name="f", file="/a/b.c", line=3).in_words == "f (b.c:3)"
    assert Function(name="f").in_words == "f"


def test_rusts_names_are_read_without_the_hashes_of_their_crates() -> None:
    if shutil.which("c++filt") is None:
        pytest.skip("needs c++filt (package binutils)")
    legacy = "_ZN4lost13forget_buffer17h7cf2a7dd97757e43E"
    assert demangled([legacy])[legacy] == "lost::forget_buffer"
