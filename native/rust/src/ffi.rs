// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
//! The functions of `cpp/granary.cpp`, `heapwright/c/granary.h` and `heapwright/c/heap.h`.

use crate::granary::Statistics;
use crate::heap::HeapStatistics;
use std::os::raw::{c_char, c_int, c_void};

/// `struct heapwright_heap`.
#[repr(C)]
pub struct RawHeap {
    _private: [u8; 0],
}

/// `struct heapwright_granary_object`.
#[repr(C)]
pub struct RawObject {
    pub address: *mut c_void,
    pub size: usize,
    pub size_class: c_int,
    pub cached: c_int,
}

pub type VisitObject = unsafe extern "C" fn(*const RawObject, *mut c_void) -> c_int;
pub type VisitHeap = unsafe extern "C" fn(*mut RawHeap, *mut c_void) -> c_int;

extern "C" {
    pub fn heapwright_rust_malloc(size: usize) -> *mut c_void;
    pub fn heapwright_rust_zalloc(size: usize) -> *mut c_void;
    pub fn heapwright_rust_memalign(alignment: usize, size: usize) -> *mut c_void;
    pub fn heapwright_rust_realloc(object: *mut c_void, size: usize) -> *mut c_void;
    pub fn heapwright_rust_free(object: *mut c_void);
    pub fn heapwright_rust_usable_size(object: *mut c_void) -> usize;
    pub fn heapwright_rust_owns(address: *const c_void) -> bool;

    pub fn heapwright_granary_set(name: *const c_char, value: *const c_char) -> c_int;
    pub fn heapwright_granary_get(name: *const c_char, value: *mut c_char, size: usize) -> usize;
    pub fn heapwright_granary_statistics(figures: *mut Statistics);
    pub fn heapwright_granary_print(descriptor: c_int, format: c_int) -> c_int;
    pub fn heapwright_granary_walk(visit: VisitObject, argument: *mut c_void) -> c_int;
    pub fn heapwright_granary_purge() -> usize;

    pub fn heapwright_heap_create(name: *const c_char, quota: usize) -> *mut RawHeap;
    pub fn heapwright_heap_destroy(heap: *mut RawHeap);
    pub fn heapwright_heap_clear(heap: *mut RawHeap);
    pub fn heapwright_heap_malloc(heap: *mut RawHeap, size: usize) -> *mut c_void;
    pub fn heapwright_heap_calloc(heap: *mut RawHeap, count: usize, size: usize) -> *mut c_void;
    pub fn heapwright_heap_aligned_alloc(
        heap: *mut RawHeap,
        alignment: usize,
        size: usize,
    ) -> *mut c_void;
    pub fn heapwright_heap_realloc(
        heap: *mut RawHeap,
        object: *mut c_void,
        size: usize,
    ) -> *mut c_void;
    pub fn heapwright_heap_free(heap: *mut RawHeap, object: *mut c_void);
    pub fn heapwright_heap_size(heap: *mut RawHeap, object: *mut c_void) -> usize;
    pub fn heapwright_heap_owns(heap: *const RawHeap, address: *const c_void) -> c_int;
    pub fn heapwright_heap_name(heap: *const RawHeap) -> *const c_char;
    pub fn heapwright_heap_set_quota(heap: *mut RawHeap, quota: usize);
    pub fn heapwright_heap_trim(heap: *mut RawHeap) -> c_int;
    pub fn heapwright_heap_statistics(
        heap: *mut RawHeap,
        figures: *mut HeapStatistics,
        size: usize,
    );
    pub fn heapwright_heap_each(visit: VisitHeap, argument: *mut c_void) -> c_int;
}

/// The alignment of every object, without a request for more.
pub const MIN_ALIGN: usize = 16;
