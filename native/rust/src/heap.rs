// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0

use crate::ffi::{self, RawHeap, MIN_ALIGN};
use crate::HeapBox;
use std::alloc::Layout;
use std::error::Error;
use std::ffi::CStr;
use std::fmt;
use std::mem;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};

/// A heap for one tenant or subsystem, with a name, a quota and statistics.
///
/// Any thread may allocate from a heap, and may free an object that another thread allocated. Its
/// memory comes from the system, in chunks that no other heap shares. A heap without objects takes
/// 24 KiB. Dropping a heap returns all its memory, in one system call for each chunk.
///
/// ```
/// use heapwright::Heap;
/// use std::alloc::Layout;
///
/// let tenant = Heap::new("tenant 7", 72_000)?;
/// let layout = Layout::new::<[u8; 140]>();
/// while tenant.alloc(layout).is_some() {} // the quota ends the loop
/// let now = tenant.statistics();
/// assert_eq!((now.live_objects, now.refusals), (500, 1));
/// # Ok::<(), heapwright::OutOfMemory>(())
/// ```
///
/// A request of 140 bytes takes an object of 144. The quota counts such usable bytes.
pub struct Heap {
    raw: NonNull<RawHeap>,
}

// SAFETY: any thread may use a heap, and any thread may destroy it.
unsafe impl Send for Heap {}
// SAFETY: several threads may use a heap at once. The functions that need the heap for themselves
// take it by value or by `&mut`.
unsafe impl Sync for Heap {}

/// The quota is exhausted, or the system has no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl fmt::Display for OutOfMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the heap's quota is exhausted, or the system has no memory")
    }
}

impl Error for OutOfMemory {}

/// Figures of a heap. Each is exact. Figures of a heap that other threads use at the time may be of
/// different moments.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapStatistics {
    /// Number of live objects.
    pub live_objects: u64,
    /// Usable bytes of the live objects; at most the quota, unless that was lowered.
    pub live_bytes: u64,
    /// The most live bytes since the heap was created.
    pub peak_bytes: u64,
    /// The quota in bytes; `u64::MAX` without a quota.
    pub quota_bytes: u64,
    /// Bytes of addresses from the system, with or without memory.
    pub mapped_bytes: u64,
    /// Allocations since the heap was created. A `realloc` that copies counts as one.
    pub allocations: u64,
    /// Requests since the heap was created that got no memory.
    pub refusals: u64,
}

impl Heap {
    /// The quota of a heap without one.
    pub const UNLIMITED: usize = usize::MAX;

    /// Creates a heap. `quota` limits the usable bytes of all live objects.
    ///
    /// The heap keeps at most 47 bytes of the name, up to the first zero byte and without a part
    /// of a character.
    ///
    /// # Errors
    ///
    /// The system has no memory.
    pub fn new(name: &str, quota: usize) -> Result<Heap, OutOfMemory> {
        let mut text = [0_u8; LONGEST_NAME + 1];
        let mut length = name.len().min(LONGEST_NAME);
        while !name.is_char_boundary(length) {
            length -= 1;
        }
        text[..length].copy_from_slice(&name.as_bytes()[..length]);
        // SAFETY: the text ends with a zero byte. The heap copies it.
        let raw = unsafe { ffi::heapwright_heap_create(text.as_ptr().cast::<c_char>(), quota) };
        NonNull::new(raw).map(|raw| Heap { raw }).ok_or(OutOfMemory)
    }

    /// The heap's name.
    #[must_use]
    pub fn name(&self) -> &str {
        // SAFETY: the heap is live.
        unsafe { name_of(self.raw.as_ptr()) }
    }

    /// Allocates memory of this layout; `None` if the quota is exhausted or the system has none.
    ///
    /// A size of 0 counts as 1. The memory stays valid until it is freed, or the heap is cleared or
    /// dropped.
    #[must_use]
    pub fn alloc(&self, layout: Layout) -> Option<NonNull<u8>> {
        let heap = self.raw.as_ptr();
        let object = if layout.align() <= MIN_ALIGN {
            // SAFETY: the heap is live.
            unsafe { ffi::heapwright_heap_malloc(heap, layout.size()) }
        } else {
            // SAFETY: the heap is live.
            unsafe { ffi::heapwright_heap_aligned_alloc(heap, layout.align(), layout.size()) }
        };
        NonNull::new(object.cast())
    }

    /// Allocates memory of zero bytes; otherwise as [`Heap::alloc`].
    #[must_use]
    pub fn alloc_zeroed(&self, layout: Layout) -> Option<NonNull<u8>> {
        if layout.align() <= MIN_ALIGN {
            let heap = self.raw.as_ptr();
            // SAFETY: the heap is live.
            let object = unsafe { ffi::heapwright_heap_calloc(heap, 1, layout.size()) };
            return NonNull::new(object.cast());
        }
        let object = self.alloc(layout)?;
        // SAFETY: the new object has at least this size.
        unsafe { ptr::write_bytes(object.as_ptr(), 0, layout.size()) };
        Some(object)
    }

    /// Changes the size of an object, which may move. `None` means that there is no memory and
    /// that the object is unchanged. The quota must have room for both places of an object that
    /// moves. A new size of 0 counts as 1.
    ///
    /// # Safety
    ///
    /// The object is a live object of this heap with this layout. `new_size`, rounded up to the
    /// layout's alignment, does not exceed `isize::MAX`.
    #[must_use]
    pub unsafe fn realloc(
        &self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Option<NonNull<u8>> {
        let heap = self.raw.as_ptr();
        if layout.align() <= MIN_ALIGN {
            let object = object.as_ptr().cast();
            // SAFETY: the caller guarantees that the object is of this heap.
            let moved = unsafe { ffi::heapwright_heap_realloc(heap, object, new_size) };
            return NonNull::new(moved.cast());
        }
        // SAFETY: the same.
        let room = unsafe { ffi::heapwright_heap_size(heap, object.as_ptr().cast()) };
        if new_size <= room && new_size > room / 2 {
            return Some(object);
        }
        // SAFETY: the caller guarantees that the new size does not overflow with this alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let moved = self.alloc(new_layout)?;
        // SAFETY: both objects are live, different, and at least as large as the copy.
        unsafe {
            let bytes = layout.size().min(new_size);
            ptr::copy_nonoverlapping(object.as_ptr(), moved.as_ptr(), bytes);
            self.dealloc(object);
        }
        Some(moved)
    }

    /// Frees an object. The heap knows its size.
    ///
    /// # Safety
    ///
    /// The object is a live object of this heap, and is not used any more. (A double free and an
    /// object of another heap end the process with a message.)
    pub unsafe fn dealloc(&self, object: NonNull<u8>) {
        // SAFETY: the caller's guarantees.
        unsafe { ffi::heapwright_heap_free(self.raw.as_ptr(), object.as_ptr().cast()) }
    }

    /// Moves a value into this heap.
    ///
    /// ```
    /// use heapwright::Heap;
    ///
    /// let heap = Heap::new("words", 1 << 20)?;
    /// let mut word = heap.boxed(String::from("a")).map_err(|_| heapwright::OutOfMemory)?;
    /// word.push('b');
    /// assert_eq!(*word, "ab");
    /// assert!(heap.owns(&*word));
    /// # Ok::<(), heapwright::OutOfMemory>(())
    /// ```
    ///
    /// Only the value itself lies in the heap. The bytes of a `String` are the global allocator's.
    ///
    /// # Errors
    ///
    /// The value, if the quota is exhausted or the system has no memory.
    pub fn boxed<T>(&self, value: T) -> Result<HeapBox<'_, T>, T> {
        HeapBox::new(self, value)
    }

    /// Whether an address lies in a chunk of this heap.
    #[must_use]
    pub fn owns<T: ?Sized>(&self, address: *const T) -> bool {
        // SAFETY: the heap is live, and any address is permitted.
        unsafe { ffi::heapwright_heap_owns(self.raw.as_ptr(), address.cast()) != 0 }
    }

    /// Frees all objects and returns their memory to the system. Values in the heap are not dropped.
    pub fn clear(&mut self) {
        // SAFETY: the heap is live. No other thread uses it, and no box of it is live, because
        // both would borrow it.
        unsafe { ffi::heapwright_heap_clear(self.raw.as_ptr()) }
    }

    /// Changes the quota. Live objects beyond a lower quota stay. Every request is then refused
    /// until enough of them are freed.
    pub fn set_quota(&self, quota: usize) {
        // SAFETY: the heap is live.
        unsafe { ffi::heapwright_heap_set_quota(self.raw.as_ptr(), quota) }
    }

    /// Returns free memory to the system. Returns whether there was any.
    pub fn trim(&self) -> bool {
        // SAFETY: the heap is live.
        unsafe { ffi::heapwright_heap_trim(self.raw.as_ptr()) != 0 }
    }

    /// The present figures.
    #[must_use]
    pub fn statistics(&self) -> HeapStatistics {
        // SAFETY: the heap is live.
        unsafe { statistics_of(self.raw.as_ptr()) }
    }

    /// The names and figures of all heaps of the process, the newest first.
    ///
    /// Heaps that are created meanwhile wait, and so do heaps that end.
    #[must_use]
    pub fn all() -> Vec<(String, HeapStatistics)> {
        let mut found = Vec::new();
        let argument: *mut Vec<(String, HeapStatistics)> = &mut found;
        // SAFETY: the function gets the argument that it expects, during this call only. It neither
        // creates nor destroys a heap, and it does not unwind.
        unsafe { ffi::heapwright_heap_each(visit_heap, argument.cast()) };
        found
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: no other thread uses the heap, because it is owned here.
        unsafe { ffi::heapwright_heap_destroy(self.raw.as_ptr()) }
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = self.statistics();
        formatter
            .debug_struct("Heap")
            .field("name", &self.name())
            .field("live_bytes", &figures.live_bytes)
            .field("quota_bytes", &figures.quota_bytes)
            .finish()
    }
}

/// Bytes of the longest name.
const LONGEST_NAME: usize = 47;

/// The name of a heap of this crate, which is valid UTF-8. Of another heap, the name up to the
/// first invalid byte.
///
/// # Safety
///
/// The heap is live for `'a`.
unsafe fn name_of<'a>(heap: *const RawHeap) -> &'a str {
    // SAFETY: the heap's name ends with a zero byte and never changes.
    let text = unsafe { CStr::from_ptr(ffi::heapwright_heap_name(heap)) }.to_bytes();
    std::str::from_utf8(text).unwrap_or_else(|error| {
        std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default()
    })
}

/// # Safety
///
/// The heap is live.
unsafe fn statistics_of(heap: *mut RawHeap) -> HeapStatistics {
    let mut figures = HeapStatistics::default();
    // SAFETY: the struct has the given size and the layout of `heapwright_heap_figures`.
    unsafe {
        ffi::heapwright_heap_statistics(heap, &mut figures, mem::size_of::<HeapStatistics>());
    }
    figures
}

unsafe extern "C" fn visit_heap(heap: *mut RawHeap, argument: *mut c_void) -> c_int {
    // SAFETY: `all` passes its own vector, and the list's lock keeps the heap live.
    unsafe {
        let found = &mut *argument.cast::<Vec<(String, HeapStatistics)>>();
        found.push((name_of(heap).to_owned(), statistics_of(heap)));
    }
    0
}
