// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles granary and the user heaps into one archive. The options are those of
// native/preload/CMakeLists.txt that have a meaning outside of a preloaded library.

use std::env;

fn has(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature)).is_some()
}

fn main() {
    for path in ["build.rs", "cpp"] {
        println!("cargo:rerun-if-changed={}", path);
    }
    let target = env::var("CARGO_CFG_TARGET_OS").expect("cargo sets it");
    let width = env::var("CARGO_CFG_TARGET_POINTER_WIDTH").expect("cargo sets it");
    if target != "linux" || width != "64" {
        eprintln!(
            "heapwright needs 64-bit Linux, and the target is {}-bit {}; \
             use the crate under cfg(all(target_os = \"linux\", target_pointer_width = \"64\")) only",
            width, target
        );
        std::process::exit(1);
    }

    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .cpp_link_stdlib(None) // the sources use no C++ runtime
        .warnings(false) // the project compiles the same sources with all warnings
        .include("cpp")
        .file("cpp/granary.cpp")
        .file("cpp/capi/heap.cpp")
        .define("HEAPWRIGHT_VERSION", format!("\"{}\"", version).as_str())
        // An allocator without optimisation would make each debug build slow.
        .opt_level(2)
        // Lines of the allocator are of little use in a program, and take half of the time.
        .debug(false)
        .flag("-std=c++20");
    for flag in [
        "-fvisibility=hidden",
        "-fvisibility-inlines-hidden",
        "-fno-exceptions",
        "-fno-rtti",
        "-funwind-tables",
        "-fno-plt",
        // The compiler must not treat the functions here as the builtin ones.
        "-fno-builtin-malloc",
        "-fno-builtin-calloc",
        "-fno-builtin-realloc",
        "-fno-builtin-free",
        "-fno-builtin-aligned_alloc",
        "-fno-builtin-memalign",
        "-fno-builtin-posix_memalign",
    ] {
        build.flag(flag);
    }
    // The thread-local variables of a program have a fixed place. A library that dlopen loads may
    // find no room there, so the C library allocates them at the first use.
    if has("PLUGIN") {
        build.flag("-ftls-model=local-dynamic");
        build.define("HEAPWRIGHT_LATE_LIBRARY", None);
    } else {
        build.flag("-ftls-model=initial-exec");
    }
    if has("REPLACE_MALLOC") {
        build.define("HEAPWRIGHT_REPLACE_MALLOC", None);
    }
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if features.split(',').any(|each| each == "crt-static") {
        build.define("HEAPWRIGHT_STATIC", None);
    }
    build.compile("heapwright");
}
