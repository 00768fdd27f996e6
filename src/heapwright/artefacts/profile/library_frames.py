# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which frames of a stack belong to the standard libraries of C, C++ and Rust.

Such frames pass a request on: `operator new`, `std::vector<T>::push_back`, `__libc_start_main`. The
place that a user can change is the first frame that is not one of them. A frame is a text as in
`Site.frames`: a demangled name, with `(file:line)` behind it where that is known, or an object and
an offset.
"""

import re
from collections.abc import Iterable

PLACE = re.compile(r" \((?P<file>[^()\s:]+)(?::\d+)?\)$")
LIBRARY = re.compile(
    r"^(?:libc|libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s|libpthread|libm|libdl|librt|libffi|ld-linux[\w-]*"
    r"|ld-musl[\w-]*|libc\.musl[\w-]*)[-.\d]*\.so[.\d]*(?:$|\+0x)"
)
"""The file name of a standard library, also with an address in it that has no symbol."""
OPERATOR = re.compile(
    r"\boperator\s*(?P<which>\(\)|\[\]|<=>|<<=?|>>=?|->\*?|<=?|>=?|(?:new|delete)\b(?:\[\])?)"
)
NAMES = frozenset(
    (
        *("malloc", "calloc", "realloc", "reallocarray", "free", "memalign", "aligned_alloc"),
        *("posix_memalign", "valloc", "pvalloc", "xmalloc", "xcalloc", "xrealloc", "xstrdup"),
        *("xstrndup", "strdup", "strndup", "wcsdup", "asprintf", "vasprintf", "getline"),
        *("getdelim", "fopen", "fopen64", "fdopen", "freopen", "fclose", "fgets", "fread"),
        *("fwrite", "fputs", "fputc", "puts", "putchar", "printf", "fprintf", "vprintf"),
        *("vfprintf", "snprintf", "vsnprintf", "scanf", "fscanf", "sscanf", "setvbuf", "popen"),
        *("opendir", "fdopendir", "scandir", "getcwd", "realpath", "setlocale", "newlocale"),
        *("textdomain", "bindtextdomain", "gettext", "dcgettext", "regcomp", "regexec", "glob"),
        *("getaddrinfo", "gethostbyname", "getpwnam", "getpwuid", "getgrnam", "getgrgid"),
        *("qsort", "qsort_r", "bsearch", "tsearch", "hcreate", "setenv", "putenv", "tzset"),
        *("localtime", "mktime", "dlopen", "dlsym", "atexit", "on_exit", "exit", "abort"),
        *("pthread_create", "thrd_create", "start_thread", "clone", "clone3", "call_init"),
        *("call_init.part.0", "_init", "_start", "_start_c", "libc_start_main_stage2"),
        *("thread_start", "call_once", "open_memstream", "fmemopen"),
        *("new_arena", "allocate_from_new_pool", "pymalloc_alloc", "gc_alloc", "runMain"),
    )
)
"""Functions of libc, and the wrappers of `malloc` that many programs contain under one name."""
PREFIXES = (
    *("std::", "__gnu_cxx::", "__cxxabiv1::", "operator@new", "operator@delete"),
    *("_obstack_", "obstack_"),
    *("_IO_", "_dl_", "__libc_", "__cxa_", "__GI_", "__gthread", "__pthread", "__tls_"),
    *("__fopen", "__clone", "__new_", "__getdelim", "__strdup", "__strndup", "__vasprintf"),
    *("__vfprintf", "__printf", "_nl_", "__static_initialization_and_destruction"),
    *("__rust_", "__rustc", "__rdl_", "__rg_", "_Zn", "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx"),
    *(
        "Perl_safesys",
        "ffi_call",
        "g_malloc",
        "g_realloc",
        "g_try_",
        "g_slice_",
        "g_strdup",
        "g_strndup",
    ),
    *("PyMem_", "_PyMem_", "PyObject_Malloc", "PyObject_Calloc", "PyObject_Realloc"),
    *("_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc", "_PyObject_GC_", "arena_map_"),
    *("PyType_GenericAlloc", "_PyType_AllocNoTrack", "_PyObject_New", "PyObject_GC_"),
)
"""How the names of functions begin that belong to a standard library, or to the allocation of GLib
or CPython."""
RUST = re.compile(
    r"^(?:alloc::(?:alloc|borrow|boxed|collections|ffi|fmt|raw_vec|rc|slice|str|string|sync|task"
    r"|vec)|core::(?:alloc|any|array|cell|char|clone|cmp|convert|default|fmt|hash|hint|intrinsics"
    r"|iter|marker|mem|num|ops|option|panic|panicking|pin|ptr|result|slice|str|sync|task|time)"
    r"|hashbrown::(?:map|raw|set|table))::"
)
"""The modules of Rust's libraries. A name of C++ may begin with the same namespace."""
INTERPRETER = re.compile(
    r"(?:^|/)(?:(?:lib)?python3(?:\.\d+)?(?:\.so[.\d]*)?|node(?:js)?|libnode\.so[.\d]*|libjvm\.so"
    r"|ruby[.\d]*|libruby[-.\w]*)$|/(?:lib-dynload|site-packages|dist-packages)/"
)
"""Files of CPython, Node, Java and Ruby, and folders of Python's extension modules."""
UNNAMED = re.compile(r"^(?:[A-Z]\w?|[iu](?:8|16|32|64|128|size)|str|bool|char)$")
"""A type in Rust that says nothing about whose function it is: a parameter, or a built-in type."""
FOLDERS = re.compile(
    r"/include/c\+\+/|/libstdc\+\+-v3/|/rustc/|/library/(?:alloc|core|std)/src/|/sysdeps/"
    r"|/(?:glibc|musl)[^/]*/|^node:"
)
"""Folders in the path of a standard library's source file."""
FILES = re.compile(
    r"stl_\w+\.h|\w+\.tcc|new_op\w*\.cc|new_allocator\.h|alloc_traits\.h|allocat(?:or|ed_ptr)\.h"
    r"|basic_string\.h|char_traits\.h|cow_string\.h|shared_ptr\w*\.h|unique_ptr\.h|std_\w+\.h"
    r"|hashtable(?:_policy)?\.h|unordered_(?:map|set)\.h|regex_\w+\.h|refwrap\.h|invoke\.h"
    r"|locale_\w+\.(?:h|cc)|aligned_buffer\.h|ptr_traits\.h|predefined_ops\.h|[a-z_]+"
    r"|dl-\w+\.[ch]|allocatestack\.c|pthread_create\.c|libc-start\.c|libc_start_call_main\.h"
    r"|clone3?\.S|start\.S|cxa_\w+\.c|iofopen\.c|iogetdelim\.c|filedoalloc\.c|setlocale\.c"
)
"""Source files of the standard libraries. A header without an extension is one of C++.

Debug information gives a function that was inlined without its namespace: `allocate` in place of
`std::__new_allocator<char>::allocate`. Only its file tells that it belongs to a library.
"""


def is_library(path: str) -> bool:
    """Whether a file is a standard library."""
    return LIBRARY.match(path.rpartition("/")[2]) is not None


def is_interpreter(path: str) -> bool:
    """Whether a file is an interpreter, or an installed extension module of Python. Beside the
    functions that it executes its frames pass a request on."""
    return INTERPRETER.search(path) is not None


def is_library_frame(frame: str, file: str = "") -> bool:
    """Whether a frame belongs to a standard library; `file` is the path of its source file."""
    place = PLACE.search(frame)
    text = frame[: place.start()] if place else frame
    source = file or (place["file"] if place else "")
    if LIBRARY.match(text) or FOLDERS.search(source):
        return True
    if FILES.fullmatch(source.rpartition("/")[2]):
        return True
    if text.startswith("<"):
        return _is_library_impl(text)
    name = qualified_name(text)
    return name in NAMES or name.startswith(PREFIXES) or _is_rust(name, text)


def own_frames(frames: Iterable[str]) -> tuple[str, ...]:
    """The frames that do not belong to a standard library, in the same order."""
    return tuple(frame for frame in frames if frame and not is_library_frame(frame))


def own_place(frames: Iterable[str]) -> str:
    """The first frame of the program itself. Without one the first frame; empty without frames."""
    named = [frame for frame in frames if frame]
    return next((frame for frame in named if not is_library_frame(frame)), next(iter(named), ""))


def qualified_name(text: str) -> str:
    """The name of a demangled function without its result, template arguments and parameters."""
    text = OPERATOR.sub(lambda found: f"operator@{_letters(found['which'])}", text)
    text = text.replace("(anonymous namespace)", "@").replace("decltype(auto)", "auto")
    head = _outside(text.replace("->", "")).partition("(")[0]
    return head.split()[-1] if head.split() else ""


def _letters(operator: str) -> str:
    return operator.replace("[]", "") if operator[0] in "nd" else ""


def _outside(text: str) -> str:
    """The text outside of angle brackets and braces."""
    depth, kept = 0, []
    for letter in text:
        if letter in "<{":
            depth += 1
        elif letter in ">}":
            depth = max(depth - 1, 0)
        elif depth == 0:
            kept.append(letter)
    return "".join(kept)


def _is_rust(name: str, text: str) -> bool:
    """Names of Rust carry no parameters, so a name with parentheses is of another language."""
    return RUST.match(name) is not None and "(" not in _outside(text)


def _is_library_impl(text: str) -> bool:
    """Of `<type as trait>::function` in Rust: the type decides; if it is unnamed, the trait."""
    depth, end = 0, len(text)
    for place, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">" and text[place - 1] != "-")
        if depth == 0:
            end = place
            break
    of, _, trait = _split_as(text[1:end])
    of = re.sub(r"^(?:&|\*|mut |const |dyn |\[|\()+", "", of).rstrip("])")
    subject = trait if trait and UNNAMED.match(of) else of
    if subject.startswith("<"):
        return _is_library_impl(subject)
    name = _outside(subject).strip()
    return name.startswith("std::") or _is_rust(name, name) or UNNAMED.match(name) is not None


def _split_as(inner: str) -> tuple[str, str, str]:
    """The parts around the outermost ` as `."""
    depth = 0
    for place, letter in enumerate(inner):
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and inner.startswith(" as ", place):
            return inner[:place], " as ", inner[place + 4 :]
    return inner, "", ""
