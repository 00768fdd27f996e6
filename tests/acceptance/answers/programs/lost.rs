// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs in Rust: two that lose memory, two that grow, one that is steady. A step takes 2 ms.
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

struct Peer {
    other: RefCell<Option<Rc<Peer>>>,
    content: [u8; 700],
}

/// Reads a byte, so that the compiler keeps the block.
fn touch(bytes: &[u8]) {
    unsafe { std::ptr::read_volatile(bytes.as_ptr()) };
}

#[inline(never)]
fn link_peers(number: u8) {
    let new = || {
        Rc::new(Peer {
            other: RefCell::new(None),
            content: [number; 700],
        })
    };
    let (a, b) = (new(), new());
    *a.other.borrow_mut() = Some(b.clone());
    *b.other.borrow_mut() = Some(a.clone());
    touch(&a.content);
}

#[inline(never)]
fn forget_buffer(number: u8) {
    let buffer = vec![number; 1200];
    touch(&buffer);
    std::mem::forget(buffer);
}

static HISTORY: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

#[inline(never)]
fn remember(number: u8) {
    HISTORY.lock().unwrap().push(vec![number; 3000]);
}

#[inline(never)]
fn intern(names: &mut HashMap<u32, &'static str>, number: u32) {
    let name = format!("{number:01000}").into_boxed_str();
    names.insert(number, Box::leak(name));
}

#[inline(never)]
fn serve(number: u8) {
    touch(&vec![number; 600]);
}

fn main() {
    let scenario = std::env::args().nth(1).unwrap_or_default();
    let start = Instant::now();
    let mut names = HashMap::with_capacity(1 << 14); // has a mapping of its own
    for i in 0..750u32 {
        let number = i as u8;
        serve(number);
        match scenario.as_str() {
            "cycle" => link_peers(number),
            "forget" => forget_buffer(number),
            "growth" => remember(number),
            "interned" => intern(&mut names, i),
            "steady" => {}
            _ => std::process::exit(2),
        }
        let next = Duration::from_millis(2) * (i + 1);
        std::thread::sleep(next.saturating_sub(start.elapsed()));
    }
}
