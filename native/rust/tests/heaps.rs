// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
//! Heaps with a quota. The global allocator is the system's, because heaps need no granary.

#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]

use heapwright::{Heap, HeapBox, OutOfMemory};
use std::alloc::Layout;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

fn heap(quota: usize) -> Heap {
    Heap::new("test", quota).expect("the system has memory")
}

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).expect("a valid layout")
}

#[test]
fn the_quota_refuses_and_can_change() {
    let heap = heap(10_000);
    let hundred = layout(96, 8);
    let mut objects = Vec::new();
    while let Some(object) = heap.alloc(hundred) {
        objects.push(object);
    }
    let full = heap.statistics();
    assert_eq!(objects.len(), 10_000 / 96);
    assert_eq!(full.live_objects as usize, objects.len());
    assert_eq!(full.live_bytes as usize, 96 * objects.len());
    assert_eq!((full.quota_bytes, full.refusals), (10_000, 1));
    assert!(full.mapped_bytes > 0);

    heap.set_quota(20_000);
    assert!(heap.alloc(hundred).is_some());
    heap.set_quota(1000);
    for object in objects.drain(..) {
        // SAFETY: the object is the heap's, and is freed once.
        unsafe { heap.dealloc(object) };
    }
    assert!(heap.alloc(layout(2000, 8)).is_none());
    assert!(heap.alloc(layout(500, 8)).is_some());
    let now = heap.statistics();
    assert_eq!((now.live_objects, now.refusals), (2, 2));
    assert_eq!(now.peak_bytes, full.live_bytes + 96);
    assert_eq!(now.allocations, full.allocations + 2);
}

#[test]
fn objects_are_aligned_up_to_a_mebibyte_and_keep_their_contents() {
    let heap = heap(Heap::UNLIMITED);
    for power in 0..=20 {
        let align = 1_usize << power;
        let size = align + align / 2 + 3;
        let object = heap.alloc_zeroed(layout(size, align)).expect("memory");
        assert_eq!(object.as_ptr() as usize % align, 0);
        // SAFETY: each object is used within its layout and freed once.
        unsafe {
            let bytes = std::slice::from_raw_parts_mut(object.as_ptr(), size);
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(power as u8 + 1);
            let grown = heap
                .realloc(object, layout(size, align), 4 * size)
                .expect("memory");
            assert_eq!(grown.as_ptr() as usize % align, 0);
            let bytes = std::slice::from_raw_parts_mut(grown.as_ptr(), 4 * size);
            assert!(bytes[..size].iter().all(|&byte| byte == power as u8 + 1));
            bytes.fill(7);
            let shrunk = heap
                .realloc(grown, layout(4 * size, align), size / 2 + 1)
                .expect("memory");
            assert_eq!(shrunk.as_ptr() as usize % align, 0);
            let bytes = std::slice::from_raw_parts(shrunk.as_ptr(), size / 2 + 1);
            assert!(bytes.iter().all(|&byte| byte == 7));
            heap.dealloc(shrunk);
        }
    }
    assert_eq!(heap.statistics().live_objects, 0);
    assert_eq!(heap.statistics().live_bytes, 0);
}

#[test]
fn a_refused_realloc_keeps_the_object() {
    let heap = heap(4096);
    for &align in &[8, 64] {
        let object = heap.alloc(layout(1000, align)).expect("memory");
        // SAFETY: the object is live and has 1,000 bytes.
        unsafe {
            object.as_ptr().write(9);
            assert!(heap.realloc(object, layout(1000, align), 100_000).is_none());
            assert_eq!(object.as_ptr().read(), 9);
            heap.dealloc(object);
        }
    }
}

#[test]
fn objects_of_size_zero_are_different() {
    let heap = heap(Heap::UNLIMITED);
    let (one, two) = (heap.alloc(layout(0, 1)), heap.alloc_zeroed(layout(0, 64)));
    assert!(one.is_some() && two.is_some() && one != two);
    assert_eq!(heap.statistics().live_objects, 2);
    let unit = heap.boxed(()).expect("memory");
    assert_eq!(heap.statistics().live_objects, 3);
    drop(unit);
    assert_eq!(heap.statistics().live_objects, 2);
}

#[test]
fn any_thread_allocates_and_frees() {
    let heap = heap(Heap::UNLIMITED);
    thread::scope(|scope| {
        let (give, take) = mpsc::channel::<HeapBox<'_, [usize; 20]>>();
        for seed in 0..3_usize {
            let (heap, give) = (&heap, give.clone());
            scope.spawn(move || {
                for number in 0..5000 {
                    let value = heap.boxed([seed * 5000 + number; 20]).expect("memory");
                    give.send(value).expect("the other thread receives");
                }
            });
        }
        drop(give);
        scope.spawn(move || {
            let mut sum = 0;
            for value in take {
                assert!(value.iter().all(|&each| each == value[0]));
                sum += value[0];
            }
            assert_eq!(sum, (0..15_000).sum());
        });
    });
    let now = heap.statistics();
    assert_eq!((now.live_objects, now.allocations), (0, 15_000));
}

#[test]
fn boxes_drop_their_values_and_give_refused_values_back() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Counted([u8; 100]);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS.fetch_add(usize::from(self.0[0]), Ordering::Relaxed);
        }
    }
    let heap = heap(150);
    let mut first = heap
        .boxed(Counted([1; 100]))
        .unwrap_or_else(|_| panic!("there is room"));
    first.0[1] = 5;
    assert_eq!(first.heap().name(), "test");
    let second = heap.boxed(Counted([10; 100]));
    let back = second.err().expect("the quota is exhausted");
    assert_eq!((back.0[0], DROPS.load(Ordering::Relaxed)), (10, 0));
    drop(back);
    assert_eq!(DROPS.load(Ordering::Relaxed), 10);
    let inner = first.into_inner();
    assert_eq!((inner.0[1], heap.statistics().live_objects), (5, 0));
    drop(inner);
    assert_eq!(DROPS.load(Ordering::Relaxed), 11);
}

#[test]
fn a_value_may_be_of_one_thread_only() {
    let heap = heap(Heap::UNLIMITED);
    let shared = Rc::new(5);
    let value = heap.boxed(Rc::clone(&shared)).expect("memory");
    assert_eq!((**value, Rc::strong_count(&shared)), (5, 2));
    drop(value);
    assert_eq!(Rc::strong_count(&shared), 1);
}

#[test]
fn a_panic_in_drop_frees_the_memory() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("at the end");
        }
    }
    let heap = heap(Heap::UNLIMITED);
    let value = heap.boxed(Bad).unwrap_or_else(|_| panic!("there is room"));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(value)));
    assert!(caught.is_err());
    assert_eq!(heap.statistics().live_objects, 0);
}

#[test]
fn clearing_and_trimming_return_memory() {
    let mut heap = heap(Heap::UNLIMITED);
    for _ in 0..100 {
        assert!(heap.alloc(layout(50_000, 8)).is_some());
    }
    assert_eq!(heap.statistics().live_objects, 100);
    heap.clear();
    let now = heap.statistics();
    assert_eq!((now.live_objects, now.live_bytes), (0, 0));
    let object = heap.alloc(layout(1 << 20, 8)).expect("memory");
    assert!(heap.owns(object.as_ptr()));
    // SAFETY: the object is the heap's, and is freed once.
    unsafe { heap.dealloc(object) };
    assert!(heap.trim());
}

#[test]
fn names_are_cut_between_characters_and_at_a_zero_byte() {
    let name = |text: &str| Heap::new(text, 1).expect("memory").name().to_owned();
    assert_eq!(name("tenant 7"), "tenant 7");
    assert_eq!(name(&"ä".repeat(40)), "ä".repeat(23));
    assert_eq!(name("one\0two"), "one");
    assert_eq!(name(""), "");
}

#[test]
fn all_heaps_are_listed_and_ended_ones_are_not() {
    let first = Heap::new("listed first", 111).expect("memory");
    let second = Heap::new("listed second", 222).expect("memory");
    let listed = || -> Vec<(String, u64)> {
        let all = Heap::all().into_iter();
        all.filter(|(name, _)| name.starts_with("listed"))
            .map(|(name, figures)| (name, figures.quota_bytes))
            .collect()
    };
    let expected = [
        ("listed second".to_owned(), 222),
        ("listed first".to_owned(), 111),
    ];
    assert_eq!(listed(), expected);
    drop(first);
    assert_eq!(listed(), expected[..1]);
    drop(second);
    assert_eq!(listed(), []);
}

#[test]
fn heaps_and_errors_have_a_text() {
    let heap = heap(7);
    assert_eq!(
        format!("{:?}", heap),
        "Heap { name: \"test\", live_bytes: 0, quota_bytes: 7 }"
    );
    assert_eq!(
        OutOfMemory.to_string(),
        "the heap's quota is exhausted, or the system has no memory"
    );
}
