// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0

use crate::Heap;
use std::alloc::Layout;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

/// A value in a [`Heap`], which it borrows. [`Heap::boxed`] makes it.
///
/// Dropping the box drops the value and frees its memory. The heap cannot end or be cleared before:
///
/// ```compile_fail
/// let heap = heapwright::Heap::new("short", heapwright::Heap::UNLIMITED).unwrap();
/// let value = heap.boxed(1).unwrap();
/// drop(heap);
/// println!("{}", *value);
/// ```
pub struct HeapBox<'heap, T> {
    value: NonNull<T>,
    heap: &'heap Heap,
    _owns: PhantomData<T>,
}

// SAFETY: the box owns its value, and any thread may free it to the heap.
unsafe impl<T: Send> Send for HeapBox<'_, T> {}
// SAFETY: a shared box gives shared access to the value only.
unsafe impl<T: Sync> Sync for HeapBox<'_, T> {}

impl<'heap, T> HeapBox<'heap, T> {
    pub(crate) fn new(heap: &'heap Heap, value: T) -> Result<Self, T> {
        match heap.alloc(Layout::new::<T>()) {
            None => Err(value),
            Some(place) => {
                let place = place.cast::<T>();
                // SAFETY: the place is new and has the layout of `T`.
                unsafe { place.as_ptr().write(value) };
                Ok(HeapBox {
                    value: place,
                    heap,
                    _owns: PhantomData,
                })
            }
        }
    }

    /// Moves the value out and frees its memory.
    #[must_use]
    pub fn into_inner(self) -> T {
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the value is read once. The box is not dropped, so its memory is freed once.
        unsafe {
            let value = this.value.as_ptr().read();
            this.heap.dealloc(this.value.cast());
            value
        }
    }

    /// The heap of the value.
    #[must_use]
    pub fn heap(&self) -> &'heap Heap {
        self.heap
    }
}

impl<T> Drop for HeapBox<'_, T> {
    fn drop(&mut self) {
        /// Frees the memory even if the value's own `drop` panics.
        struct Memory<'heap>(&'heap Heap, NonNull<u8>);
        impl Drop for Memory<'_> {
            fn drop(&mut self) {
                // SAFETY: the box owned the object, and nothing uses it any more.
                unsafe { self.0.dealloc(self.1) }
            }
        }
        let _memory = Memory(self.heap, self.value.cast());
        // SAFETY: the value is live, and is dropped once.
        unsafe { ptr::drop_in_place(self.value.as_ptr()) }
    }
}

impl<T> Deref for HeapBox<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the box owns a live value.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for HeapBox<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns a live value.
        unsafe { self.value.as_mut() }
    }
}

impl<T: fmt::Debug> fmt::Debug for HeapBox<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(formatter)
    }
}
