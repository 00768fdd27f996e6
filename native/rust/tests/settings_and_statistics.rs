// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
//! The functions of the module `granary`. One test at a time, because they concern the process.

use heapwright::granary::{self, Format, SettingError};
use heapwright::Granary;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(not(feature = "replace-malloc"))]
use std::{sync::mpsc, thread, time::Duration};

#[global_allocator]
static GRANARY: Granary = Granary;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

const MIB: u64 = 1 << 20;

#[test]
fn the_figures_count_what_the_program_allocates() {
    let _alone = alone();
    let before = granary::statistics();
    let large = vec![1_u8; 64 * MIB as usize];
    let small: Vec<Box<[u64; 12]>> = (0..10_000).map(|n| Box::new([n; 12])).collect();
    let now = granary::statistics();
    assert!(now.live_bytes >= before.live_bytes + 64 * MIB + 960_000);
    // The runner of the tests may free a few objects meanwhile.
    assert!(now.live_objects > before.live_objects + 9_000);
    assert!(now.large_bytes >= before.large_bytes + 64 * MIB);
    assert!(now.mapped_bytes >= now.live_bytes);
    assert!(now.maps > 0);
    assert!(now.lock_takes > 0);
    assert!(now.lock_waits <= now.lock_takes);
    assert!(now.threads >= 1);
    drop((large, small));
    let after = granary::statistics();
    assert!(after.live_bytes < now.live_bytes - 64 * MIB);
}

#[test]
fn purging_returns_what_the_program_has_freed() {
    let _alone = alone();
    granary::set("return", "never").expect("a valid value");
    let blocks: Vec<Vec<u8>> = (0..32).map(|_| vec![1_u8; MIB as usize]).collect();
    drop(blocks);
    assert!(granary::statistics().dirty_bytes >= 16 * MIB);
    assert!(granary::purge() as u64 >= 16 * MIB);
    assert!(granary::statistics().dirty_bytes < MIB);
    granary::set("return", "250ms").expect("a valid value");
}

/// With malloc replaced, the code of the C library may be the caller of a free. The thread that
/// returns memory then starts at the next request.
#[cfg(not(feature = "replace-malloc"))]
#[test]
fn freed_memory_returns_although_no_request_follows() {
    let _alone = alone();
    let (stop, wait) = mpsc::channel::<()>();
    let other = thread::spawn(move || wait.recv()); // only a process with threads returns it
    let blocks: Vec<Vec<u8>> = (0..64).map(|_| vec![1_u8; 100 << 10]).collect();
    drop(blocks);
    let mut rounds = 0;
    while granary::statistics().dirty_bytes > MIB {
        assert!(rounds < 6000, "it was not returned within a minute");
        rounds += 1;
        thread::sleep(Duration::from_millis(10));
    }
    drop(stop);
    assert!(other.join().expect("it ends well").is_err());
}

#[test]
fn settings_change_and_errors_change_nothing() {
    let _alone = alone();
    granary::set("return", "2s").expect("a valid value");
    assert_eq!(
        granary::set("return", "soon"),
        Err(SettingError::InvalidValue)
    );
    assert_eq!(
        granary::set("return", "1s\0"),
        Err(SettingError::InvalidValue)
    );
    assert_eq!(
        granary::set("returns", "1s"),
        Err(SettingError::UnknownName)
    );
    assert_eq!(
        granary::set("ret\0urn", "1s"),
        Err(SettingError::UnknownName)
    );
    assert_eq!(granary::get("return").as_deref(), Some("2000ms"));
    assert_eq!(granary::get("returns"), None);
    granary::set("return", "250ms").expect("a valid value");
    assert_eq!(
        SettingError::UnknownName.to_string(),
        "granary has no setting of this name"
    );
}

#[test]
fn the_background_thread_starts_when_it_is_set() {
    let _alone = alone();
    granary::set("background", "on").expect("a valid value");
    let names = || {
        fs::read_dir("/proc/self/task")
            .expect("the system lists threads")
            .filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok())
            .any(|name| name.trim() == "granary")
    };
    // The thread gets its name after it has started.
    while !names() {
        std::thread::yield_now();
    }
    granary::set("background", "auto").expect("a valid value");
}

#[test]
fn the_walk_finds_each_live_object_once() {
    let _alone = alone();
    let small = Box::new([1_u8; 200]);
    let large = vec![1_u8; 1 << 20];
    let mut sizes = (Vec::new(), Vec::new());
    granary::walk(|object| {
        if object.address == small.as_ptr() {
            sizes.0.push((
                object.size >= 200,
                object.size_class.is_some(),
                object.cached,
            ));
        }
        if object.address == large.as_ptr() {
            sizes.1.push((
                object.size >= 1 << 20,
                object.size_class.is_some(),
                object.cached,
            ));
        }
        ControlFlow::Continue(())
    })
    .expect("there is memory for the list");
    assert_eq!(sizes.0, [(true, true, false)]);
    assert_eq!(sizes.1, [(true, false, false)]);
}

#[test]
fn the_walk_ends_at_a_break_and_passes_on_a_panic() {
    let _alone = alone();
    let mut visits = 0;
    granary::walk(|_| {
        visits += 1;
        ControlFlow::Break(())
    })
    .expect("there is memory for the list");
    assert_eq!(visits, 1);
    let panic = std::panic::catch_unwind(|| granary::walk(|_| panic!("seen")));
    let panic = panic.expect_err("the visitor panicked");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"seen"));
}

#[test]
fn the_statistics_are_printed_to_a_file() {
    let _alone = alone();
    let path = std::env::temp_dir().join(format!("heapwright-{}", std::process::id()));
    let file = File::create(&path).expect("a temporary file");
    granary::print(&file, Format::Json).expect("it is written");
    granary::print(&file, Format::Table).expect("it is written");
    let text = fs::read_to_string(&path).expect("it is read");
    fs::remove_file(&path).expect("it is there");
    let (json, table) = text.split_once('\n').expect("one line of JSON");
    assert!(json.starts_with("{\"format\":\"heapwright granary statistics\""));
    assert!(json.contains("\"allocator\":\"granary\""));
    assert!(json.contains(concat!(
        "\"heapwright_version\":\"",
        env!("CARGO_PKG_VERSION"),
        "\""
    )));
    assert!(table.starts_with(concat!("granary ", env!("CARGO_PKG_VERSION"), ", process ")));
    let closed = File::open("/dev/null").expect("it exists"); // for reading only
    assert!(granary::print(&closed, Format::Json).is_err());
}
