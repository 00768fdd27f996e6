// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]

mod ffi;
mod global;
pub mod granary;
mod heap;
mod heap_box;

pub use global::Granary;
pub use heap::{Heap, HeapStatistics, OutOfMemory};
pub use heap_box::HeapBox;
