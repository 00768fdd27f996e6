// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0

use crate::ffi::{self, MIN_ALIGN};
use std::alloc::{GlobalAlloc, Layout};
use std::ptr;

/// The allocator granary, for `#[global_allocator]`.
///
/// All values of this type are the one granary of the process. It needs no start, and serves the
/// first request of a process as well as the last one of an ending thread. A forked child may use
/// it, even if other threads of the parent were inside it.
///
/// Sizes given to `dealloc` are not used, because granary frees fastest without them.
///
/// ```
/// #[global_allocator]
/// static GRANARY: heapwright::Granary = heapwright::Granary;
///
/// fn main() {
///     let text = String::from("in granary's memory");
///     assert!(heapwright::granary::owns(text.as_ptr()));
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Granary;

// SAFETY: granary returns objects of at least the requested size and alignment, or null. An object
// stays valid until it is freed, and no function unwinds.
unsafe impl GlobalAlloc for Granary {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MIN_ALIGN {
            // SAFETY: any size is permitted.
            unsafe { ffi::heapwright_rust_malloc(layout.size()).cast() }
        } else {
            // SAFETY: a layout's alignment is a power of two.
            unsafe { ffi::heapwright_rust_memalign(layout.align(), layout.size()).cast() }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, _layout: Layout) {
        // SAFETY: the caller guarantees that `alloc` or `realloc` returned the object.
        unsafe { ffi::heapwright_rust_free(object.cast()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= MIN_ALIGN {
            // SAFETY: any size is permitted.
            return unsafe { ffi::heapwright_rust_zalloc(layout.size()).cast() };
        }
        // SAFETY: the caller's guarantees are those of `alloc`.
        let object = unsafe { self.alloc(layout) };
        if !object.is_null() {
            // SAFETY: the object has at least that size, and only this thread knows it.
            unsafe { ptr::write_bytes(object, 0, layout.size()) };
        }
        object
    }

    #[inline]
    unsafe fn realloc(&self, object: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.align() <= MIN_ALIGN {
            // SAFETY: the caller guarantees that the object is live and the new size is not 0.
            return unsafe { ffi::heapwright_rust_realloc(object.cast(), new_size).cast() };
        }
        // SAFETY: the caller's guarantees.
        unsafe { realloc_aligned(self, object, layout, new_size) }
    }
}

/// In place if the object has room and at most half of it would be unused. Otherwise copies,
/// because granary's `realloc` keeps an alignment of 16 only.
#[cold]
unsafe fn realloc_aligned(
    granary: &Granary,
    object: *mut u8,
    layout: Layout,
    new_size: usize,
) -> *mut u8 {
    // SAFETY: the caller guarantees that the object is live.
    let room = unsafe { ffi::heapwright_rust_usable_size(object.cast()) };
    if new_size <= room && new_size > room / 2 {
        return object;
    }
    // SAFETY: the caller guarantees that the new size does not overflow with this alignment.
    let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
    // SAFETY: the caller guarantees that the new size is not 0.
    let moved = unsafe { granary.alloc(new_layout) };
    if !moved.is_null() {
        // SAFETY: both objects are live, different, and at least as large as the copy.
        unsafe {
            ptr::copy_nonoverlapping(object, moved, layout.size().min(new_size));
            granary.dealloc(object, layout);
        }
    }
    moved
}
