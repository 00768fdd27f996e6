# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# The headers, granary and the C library, built from the clone that this file lies in.
{ lib, stdenv, cmake, ninja }:

let
  root = ../..;
  lines = lib.splitString "\n" (builtins.readFile (root + "/src/heapwright/__init__.py"));
  versions = map (builtins.match "__version__ = \"(.*)\"") lines;
in
stdenv.mkDerivation {
  pname = "heapwright";
  version = builtins.head (lib.findFirst (each: each != null) null versions);

  # What a build without the tool reads.
  src = lib.fileset.toSource {
    inherit root;
    fileset = lib.fileset.unions [
      ../../CMakeLists.txt
      ../../LICENSE
      ../../catalogue/allocators.toml
      ../../cmake
      ../../include
      ../../native/CMakeLists.txt
      ../../native/capi
      ../../native/preload
      ../../src/heapwright/__init__.py
    ];
  };

  nativeBuildInputs = [ cmake ninja ];
  cmakeFlags = [ "-DHEAPWRIGHT_TOOL=OFF" ];

  meta = {
    description = "Memory allocators from C++20 layers: headers, granary, and heaps for C";
    license = lib.licenses.asl20;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
}
