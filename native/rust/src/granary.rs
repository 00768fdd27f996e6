// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0

//! Settings, statistics and the objects of the process's granary.
//!
//! The functions may be called at any time by any thread, but not by a signal handler. They concern
//! the memory of [`Granary`](crate::Granary), not that of [`Heap`](crate::Heap)s.

use crate::ffi::{self, RawObject};
use std::any::Any;
use std::error::Error;
use std::ffi::CString;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::io::AsRawFd;
use std::panic::{self, AssertUnwindSafe};

/// Figures of the whole process, all of one moment. A freed object in a thread's cache is cached.
/// All other objects in use are live.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Number of live objects.
    pub live_objects: u64,
    /// Usable bytes of the live objects.
    pub live_bytes: u64,
    /// Number of live objects that are too large for any size class.
    pub large_objects: u64,
    /// Usable bytes of these large objects.
    pub large_bytes: u64,
    /// Number of freed objects in the threads' caches.
    pub cached_objects: u64,
    /// Bytes of these cached objects.
    pub cached_bytes: u64,
    /// Bytes of free slots in superblocks.
    pub free_bytes: u64,
    /// Bytes of free memory that is not returned to the system yet.
    pub dirty_bytes: u64,
    /// Bytes of free memory that is returned, or was never touched.
    pub clean_bytes: u64,
    /// Bytes of addresses from the system, with or without memory.
    pub mapped_bytes: u64,
    /// Number of threads with a cache.
    pub threads: u64,
    /// System calls since the start that mapped addresses.
    pub maps: u64,
    /// System calls since the start that unmapped addresses.
    pub unmaps: u64,
    /// System calls since the start that returned memory and kept the addresses.
    pub purges: u64,
    /// Bytes that these calls returned.
    pub purged_bytes: u64,
    /// Acquisitions of locks since the start.
    pub lock_takes: u64,
    /// Those among them that had to wait.
    pub lock_waits: u64,
}

/// The present figures.
#[must_use]
pub fn statistics() -> Statistics {
    let mut figures = Statistics::default();
    // SAFETY: the struct has the layout of `heapwright_granary_figures`.
    unsafe { ffi::heapwright_granary_statistics(&mut figures) };
    figures
}

/// Why a setting was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// There is no setting of this name.
    UnknownName,
    /// The setting does not accept this value.
    InvalidValue,
}

impl fmt::Display for SettingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            SettingError::UnknownName => "granary has no setting of this name",
            SettingError::InvalidValue => "granary's setting does not accept this value",
        })
    }
}

impl Error for SettingError {}

/// Changes a setting, as the environment variable `HEAPWRIGHT_GRANARY` does. The names are
/// `return`, `background`, `huge-pages`, `guard`, `statistics`, `format` and `to`.
/// `sample` has no effect in the crate.
///
/// ```
/// use heapwright::granary::{self, SettingError};
///
/// granary::set("return", "2s")?;
/// assert_eq!(granary::get("return").as_deref(), Some("2000ms"));
/// assert_eq!(granary::set("return", "soon"), Err(SettingError::InvalidValue));
/// # Ok::<(), SettingError>(())
/// ```
///
/// # Errors
///
/// An unknown name, or a value that the setting does not accept. Then nothing changes.
pub fn set(name: &str, value: &str) -> Result<(), SettingError> {
    let name = CString::new(name).map_err(|_| SettingError::UnknownName)?;
    let value = CString::new(value).map_err(|_| SettingError::InvalidValue)?;
    // SAFETY: both texts end with a zero byte.
    match unsafe { ffi::heapwright_granary_set(name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        ENOENT => Err(SettingError::UnknownName),
        _ => Err(SettingError::InvalidValue),
    }
}

/// The value of a setting; `None` if there is no setting of this name.
#[must_use]
pub fn get(name: &str) -> Option<String> {
    let name = CString::new(name).ok()?;
    let mut text = [0_u8; LONGEST_VALUE + 1];
    // SAFETY: the buffer has the given size, and the name ends with a zero byte.
    let length = unsafe {
        ffi::heapwright_granary_get(
            name.as_ptr(),
            text.as_mut_ptr().cast::<c_char>(),
            text.len(),
        )
    };
    if length == 0 {
        return None;
    }
    let value = &text[..length.min(text.len() - 1)];
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The form in which [`print()`] writes the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    Table,
    /// One line of JSON, as `granary-statistics.schema.json` describes it.
    Json,
    /// Metrics in the text format of Prometheus, which is also valid OpenMetrics.
    OpenMetrics,
}

/// Prints all statistics to a file or another descriptor, without a buffer and without allocation.
///
/// ```
/// use heapwright::granary::{self, Format};
///
/// granary::print(&std::io::stderr(), Format::Table)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The descriptor could not be written.
pub fn print(to: &impl AsRawFd, format: Format) -> io::Result<()> {
    let number = match format {
        Format::Table => 0,
        Format::Json => 1,
        Format::OpenMetrics => 2,
    };
    // SAFETY: any descriptor and any number are permitted.
    match unsafe { ffi::heapwright_granary_print(to.as_raw_fd(), number) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Returns all free memory to the system, after flushing the calling thread's cache. The caches of
/// other threads stay. Returns the number of bytes.
pub fn purge() -> usize {
    // SAFETY: there is no precondition.
    unsafe { ffi::heapwright_granary_purge() }
}

/// Whether an address lies in memory of granary. For the address of a freed object the answer may
/// be either. This takes all locks of granary, so it is for tests and diagnosis.
#[must_use]
pub fn owns<T: ?Sized>(address: *const T) -> bool {
    // SAFETY: any address is permitted, and nothing is read there but granary's own memory.
    unsafe { ffi::heapwright_rust_owns(address.cast()) }
}

/// A live object, or a freed one in a thread's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// Its address. The object may have been freed meanwhile.
    pub address: *const u8,
    /// Its usable bytes.
    pub size: usize,
    /// The index of its size class; `None` if it is large.
    pub size_class: Option<usize>,
    /// Whether it was freed and lies in a thread's cache.
    pub cached: bool,
}

/// There was no memory for the list of a walk: 24 bytes for each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkError;

impl fmt::Display for WalkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the system has no memory for the list of granary's objects")
    }
}

impl Error for WalkError {}

struct Walk<'a> {
    visit: &'a mut dyn FnMut(Object) -> ControlFlow<()>,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn visit_object(object: *const RawObject, argument: *mut c_void) -> c_int {
    // SAFETY: `walk` passes its own `Walk`, and granary a valid object.
    let (walk, object) = unsafe { (&mut *argument.cast::<Walk<'_>>(), &*object) };
    let object = Object {
        address: object.address as *const u8,
        size: object.size,
        size_class: usize::try_from(object.size_class).ok(),
        cached: object.cached != 0,
    };
    match panic::catch_unwind(AssertUnwindSafe(|| (walk.visit)(object))) {
        Ok(ControlFlow::Continue(())) => 0,
        Ok(ControlFlow::Break(())) => STOPPED,
        Err(panic) => {
            walk.panic = Some(panic);
            STOPPED
        }
    }
}

/// Visits every object of the process as it was at one moment, in no order, until `visit` breaks.
///
/// Other threads wait while the objects are listed, and then continue. `visit` may allocate and
/// free.
///
/// ```
/// use heapwright::granary;
/// use std::ops::ControlFlow;
///
/// let mut large = 0;
/// granary::walk(|object| {
///     if object.size_class.is_none() && !object.cached {
///         large += object.size;
///     }
///     ControlFlow::Continue(())
/// })?;
/// println!("{} bytes of large objects", large);
/// # Ok::<(), granary::WalkError>(())
/// ```
///
/// # Errors
///
/// There was no memory for the list.
pub fn walk(mut visit: impl FnMut(Object) -> ControlFlow<()>) -> Result<(), WalkError> {
    let mut walk = Walk {
        visit: &mut visit,
        panic: None,
    };
    let argument: *mut Walk<'_> = &mut walk;
    // SAFETY: the function gets the argument that it expects, during this call only.
    let answer = unsafe { ffi::heapwright_granary_walk(visit_object, argument.cast()) };
    if let Some(panic) = walk.panic {
        panic::resume_unwind(panic);
    }
    match answer {
        0 | STOPPED => Ok(()),
        _ => Err(WalkError),
    }
}

/// Bytes of the longest value of a setting.
const LONGEST_VALUE: usize = 255;
const ENOENT: c_int = 2;
/// What `visit_object` returns to stop; not the error ENOMEM.
const STOPPED: c_int = -1;
