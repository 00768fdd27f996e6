# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of the standard libraries are distinguished from those of the program."""

import pytest

from heapwright.artefacts.profile.library_frames import (
    is_library_frame,
    own_frames,
    own_place,
    qualified_name,
)

LIBRARY = (
    "malloc",
    "operator new(unsigned long)",
    "operator new[](unsigned long, std::align_val_t)",
    "std::vector<Session, std::allocator<Session> >::push_back(Session&&) (stl_vector.h:1294)",
    "void std::vector<int>::_M_realloc_append<int const&>(int const&)",
    "std::__cxx11::basic_string<char>::_M_construct<char const*>(char const*, char const*)",
    "Session* std::construct_at<Session, int>(Session*, int&&)",
    "std::unique_ptr<Session> std::make_unique<Session, int>(int&&)",
    "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
    "__gnu_cxx::new_allocator<char>::allocate(unsigned long, void const*)",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "_start",
    "start_thread",
    "libc.so.6+0x29d90",
    "libstdc++.so.6.0.30+0xae2bc",
    "libc-2.31.so+0x1234",
    "alloc::raw_vec::RawVec<T,A>::reserve_for_push",
    "alloc::vec::Vec<T,A>::push (mod.rs:1836)",
    "<alloc::vec::Vec<T> as alloc::vec::spec_from_iter::SpecFromIter<T,I>>::from_iter",
    "<T as core::convert::Into<U>>::into",
    "<&mut F as core::ops::function::FnOnce<A>>::call_once",
    "core::ops::function::FnOnce::call_once",
    "std::rt::lang_start::{{closure}}",
    "hashbrown::raw::RawTable<T,A>::reserve_rehash",
    "__rust_alloc",
    "xmalloc (xmalloc.c:12)",
    "g_malloc0",
    "_PyObject_Malloc (obmalloc.c:1998)",
    "thread<main()::<lambda()> > (std_thread.h:142)",
    "allocate (new_allocator.h:137)",
    "_M_create (basic_string.tcc:153)",
    "make_unique<Session, int> (memory:12)",
    "allocate_dtv (dl-tls.c:401)",
    "allocate_stack (allocatestack.c:423)",
)
OWN = (
    "main",
    "open_session(int) (server.cpp:12)",
    "std::string open_session<int>(int)",
    "std::vector<int> (anonymous namespace)::load<char>(std::string const&)",
    "(anonymous namespace)::Cache::put(std::string)",
    "main::{lambda()#1}::operator()() const",
    "std::ostream& app::operator<< <int>(std::ostream&, app::Row<int> const&)",
    "app::Heap::operator new(unsigned long)",
    "core::Engine::load(std::string const&)",
    "alloc::pool(int)",
    "standard(int)",
    "<myapp::Session as core::clone::Clone>::clone",
    "<myapp::Row as core::iter::FromIterator<alloc::string::String>>::from_iter",
    "myapp::open_session::{{closure}}",
    "server+0x1234",
    "libcurl.so.4+0x1234",
    "libcache.so+0x20",
    "malloc_everything (tool.c:4)",
    "PyObject_Call",
    "allocate (pool.h:12)",
    "construct (vector.h:3)",
)


@pytest.mark.parametrize("frame", LIBRARY)
def test_a_frame_of_a_standard_library_is_recognised(frame: str) -> None:
    assert is_library_frame(frame)


@pytest.mark.parametrize("frame", OWN)
def test_a_frame_of_the_program_is_not_taken_for_a_library(frame: str) -> None:
    assert not is_library_frame(frame)


def test_a_library_frame_is_recognised_by_its_source_file() -> None:
    assert is_library_frame("allocate", "/usr/include/c++/12/bits/new_allocator.h")
    assert is_library_frame("push", "/rustc/90b35a6/library/alloc/src/vec/mod.rs")
    assert not is_library_frame("allocate", "/home/dev/include/pool.h")


def test_the_place_is_the_first_frame_of_the_program() -> None:
    frames = (LIBRARY[1], LIBRARY[5], "open_session(int) (server.cpp:12)", "main", "_start")
    assert own_place(frames) == "open_session(int) (server.cpp:12)"
    assert own_frames(frames) == ("open_session(int) (server.cpp:12)", "main")


def test_a_stack_of_library_frames_alone_names_the_innermost() -> None:
    assert own_place(("malloc", "_dl_init")) == "malloc"
    assert own_place(()) == ""


def test_the_name_is_without_result_template_arguments_and_parameters() -> None:
    assert qualified_name("int* a::f<b<c> >(d<e>) const") == "a::f"
    assert qualified_name("bool a::operator< <int>(int, int)") == "a::operator@"
