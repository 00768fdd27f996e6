// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
//! A program whose global allocator is granary: who owns its memory, and the rules of `GlobalAlloc`.

#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]
// clippy 1.63 reports these where its successors do not.
#![allow(clippy::needless_collect, clippy::declare_interior_mutable_const)]

use heapwright::{granary, Granary};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::RefCell;
use std::os::raw::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

#[global_allocator]
static GRANARY: Granary = Granary;

extern "C" {
    fn strdup(text: *const c_char) -> *mut c_char;
    fn free(object: *mut c_void);
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a valid layout")
}

/// Bytes that differ from place to place.
fn pattern(seed: usize, at: usize) -> u8 {
    (seed.wrapping_mul(31) ^ at.wrapping_mul(7)) as u8
}

/// # Safety
///
/// `object` has `size` bytes.
unsafe fn fill(object: *mut u8, size: usize, seed: usize) {
    for at in 0..size {
        // SAFETY: `at` is inside of the object.
        unsafe { object.add(at).write(pattern(seed, at)) };
    }
}

/// # Safety
///
/// `object` has `size` bytes.
unsafe fn holds(object: *const u8, size: usize, seed: usize) -> bool {
    // SAFETY: the caller guarantees that the object has this size.
    let bytes = unsafe { std::slice::from_raw_parts(object, size) };
    bytes
        .iter()
        .enumerate()
        .all(|(at, &byte)| byte == pattern(seed, at))
}

#[test]
fn granary_owns_what_rust_allocates() {
    let small = Box::new(1_u8);
    let text = String::from("a text");
    let large = vec![0_u64; 1 << 20];
    let on_stack = 1_u8;
    assert!(granary::owns(&*small));
    assert!(granary::owns(text.as_ptr()));
    assert!(granary::owns(large.as_ptr()));
    assert!(!granary::owns(&on_stack));
    assert!(!granary::owns(std::ptr::null::<u8>()));
}

#[test]
fn malloc_is_replaced_by_the_feature_only() {
    // SAFETY: the text ends with a zero byte, and the copy is freed once.
    unsafe {
        let copy = strdup(b"a text of C\0".as_ptr().cast());
        assert_eq!(granary::owns(copy), cfg!(feature = "replace-malloc"));
        free(copy.cast());
    }
}

#[test]
fn objects_are_aligned_up_to_a_mebibyte_and_keep_their_contents() {
    for power in 0..=20 {
        let align = 1_usize << power;
        for size in [1, align / 2 + 1, align, 3 * align + 5] {
            let (first, second) = (layout(size, align), layout(2 * size, align));
            // SAFETY: the sizes are not 0, and each object is used within its layout.
            unsafe {
                let object = GRANARY.alloc(first);
                assert!(!object.is_null());
                assert_eq!(object as usize % align, 0, "{:?}", first);
                fill(object, size, power);
                let other = GRANARY.alloc(first);
                fill(other, size, power + 1);

                let grown = GRANARY.realloc(object, first, 2 * size);
                assert_eq!(grown as usize % align, 0, "{:?} grown", first);
                assert!(holds(grown, size, power), "{:?} grown", first);
                fill(grown, 2 * size, power);
                let least = size / 3 + 1;
                let shrunk = GRANARY.realloc(grown, second, least);
                assert_eq!(shrunk as usize % align, 0, "{:?} shrunk", first);
                assert!(holds(shrunk, least, power), "{:?} shrunk", first);
                assert!(holds(other, size, power + 1), "{:?}", first);
                GRANARY.dealloc(shrunk, layout(least, align));
                GRANARY.dealloc(other, first);
            }
        }
    }
}

#[test]
fn zeroed_memory_is_zero_where_other_bytes_were() {
    for &align in &[1, 16, 64, 4096] {
        for &size in &[1, 100, 5000, 40_000, 3 << 20] {
            let wanted = layout(size, align);
            for seed in 0..8 {
                // SAFETY: the sizes are not 0, and the object is used within its layout.
                unsafe {
                    let object = GRANARY.alloc_zeroed(wanted);
                    assert!(!object.is_null());
                    assert_eq!(object as usize % align, 0);
                    let bytes = std::slice::from_raw_parts(object, size);
                    assert!(bytes.iter().all(|&byte| byte == 0), "{:?}", wanted);
                    fill(object, size, seed);
                    GRANARY.dealloc(object, wanted);
                }
            }
        }
    }
}

#[test]
fn a_vector_keeps_its_contents_while_it_grows_and_shrinks() {
    let mut numbers = Vec::new();
    for number in 0..1_000_000_u64 {
        numbers.push(number);
    }
    assert!(numbers.iter().copied().eq(0..1_000_000));
    for rest in [600_000, 50_000, 1000, 10, 1] {
        numbers.truncate(rest);
        numbers.shrink_to_fit();
        assert!(numbers.iter().copied().eq(0..rest as u64));
        assert!(granary::owns(numbers.as_ptr()));
    }
}

#[test]
fn nothing_of_size_zero_is_allocated() {
    let unit = Box::new(());
    let mut units = Vec::new();
    units.resize(1000, ());
    let empty: Vec<u64> = Vec::with_capacity(0);
    assert_eq!(units.len(), 1000);
    assert!(!granary::owns(&*unit));
    assert!(!granary::owns(units.as_ptr()));
    assert!(!granary::owns(empty.as_ptr()));
    let mut text = String::from("no more");
    text.clear();
    text.shrink_to_fit(); // frees
    assert!(!granary::owns(text.as_ptr()));
}

#[test]
fn a_request_that_no_system_can_serve_returns_null() {
    let huge = isize::MAX as usize - 15;
    // SAFETY: the sizes are not 0, and the small object is freed once.
    unsafe {
        assert!(GRANARY.alloc(layout(huge, 16)).is_null());
        assert!(GRANARY.alloc_zeroed(layout(huge, 1)).is_null());
        let object = GRANARY.alloc(layout(8, 8));
        object.write(7);
        assert!(GRANARY.realloc(object, layout(8, 8), huge).is_null());
        assert_eq!(object.read(), 7);
        GRANARY.dealloc(object, layout(8, 8));
    }
    assert!(Vec::<u8>::new().try_reserve(huge).is_err());
}

#[test]
fn threads_free_the_objects_of_other_threads() {
    const THREADS: usize = 4;
    const OBJECTS: usize = 20_000;
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| mpsc::channel::<Vec<usize>>()).unzip();
    let received: usize = thread::scope(|scope| {
        let threads: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(me, mine)| {
                let next = senders[(me + 1) % THREADS].clone();
                scope.spawn(move || {
                    for number in 0..OBJECTS {
                        let words = vec![number; 1 + number % 300];
                        next.send(words).expect("the next thread receives");
                    }
                    drop(next);
                    let mut count = 0;
                    for words in mine.iter().take(OBJECTS) {
                        assert!(words.iter().all(|&word| word == words[0]));
                        assert_eq!(words.len(), 1 + words[0] % 300);
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|each| each.join().expect("it ends well"))
            .sum()
    });
    assert_eq!(received, THREADS * OBJECTS);
}

static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Allocates and frees while its thread ends.
struct AtEnd(Vec<String>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.push("x".repeat(self.0.len() * 100));
        let copy = self.0.clone();
        ENDED.fetch_add(copy.len(), Ordering::Relaxed);
    }
}

thread_local! {
    static KEPT: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

#[test]
fn many_threads_come_and_go_and_allocate_at_their_end() {
    const THREADS: usize = 300;
    let mut left = Vec::new();
    for number in 0..THREADS {
        let thread = thread::spawn(move || {
            let words: Vec<String> = (0..50).map(|n| (n * number).to_string()).collect();
            KEPT.with(|kept| *kept.borrow_mut() = Some(AtEnd(words.clone())));
            words
        });
        left.push(thread.join().expect("it ends well"));
    }
    for (number, words) in left.iter().enumerate() {
        assert!(words
            .iter()
            .enumerate()
            .all(|(n, word)| *word == (n * number).to_string()));
    }
    assert_eq!(ENDED.load(Ordering::Relaxed), THREADS * 51);
}

#[test]
fn a_forked_child_allocates_while_threads_of_the_parent_did() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..3_usize {
            let stop = &stop;
            scope.spawn(move || {
                let mut kept = vec![Vec::new(); 100];
                let mut at = seed;
                while !stop.load(Ordering::Relaxed) {
                    at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    kept[(at >> 33) % 100] = vec![1_u8; (at >> 40) % 30_000];
                }
            });
        }
        let before: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        for _ in 0..50 {
            // SAFETY: the child uses the allocator and ends.
            unsafe {
                let child = fork();
                assert!(child >= 0);
                if child == 0 {
                    let mine: Vec<String> = before.iter().map(|each| each.repeat(3)).collect();
                    let large = vec![1_u8; 1 << 20];
                    let right = mine[7] == "777" && large.len() == 1 << 20;
                    drop((mine, large));
                    _exit(if right { 0 } else { 1 });
                }
                let mut status = -1;
                assert_eq!(waitpid(child, &mut status, 0), child);
                assert_eq!(status, 0);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
