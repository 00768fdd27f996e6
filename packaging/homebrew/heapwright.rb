# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# The formula. No archive is published, so it builds the newest commit of a clone that a variable names.
class Heapwright < Formula
  desc "Memory allocators from C++20 layers: headers, granary, and heaps for C"
  head "file://#{ENV.fetch("HOMEBREW_HEAPWRIGHT_CLONE") { raise "set HOMEBREW_HEAPWRIGHT_CLONE to a clone" }}",
       using: :git, branch: "main"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on :linux

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DHEAPWRIGHT_TOOL=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"regions.c").write <<~C
      #include <heapwright/c/region.h>
      int main(void) { return heapwright_region_create(NULL) == NULL; }
    C
    system ENV.cc, "regions.c", "-I#{include}", "-L#{lib}", "-Wl,-rpath,#{lib}", "-lheapwright-c", "-o", "regions"
    system "./regions"
  end
end
