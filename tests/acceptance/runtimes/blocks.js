// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
// Keeps objects on the heap of V8, and buffers. Prints the bytes of the objects.
const [blocks, size] = process.argv.slice(2).map(Number);
const kept = [];
for (let i = 0; i < 100000; ++i) kept.push({ number: i, list: [i, i + 1, i + 2] });
const buffers = Array.from({ length: blocks }, () => Buffer.alloc(size));
console.log(buffers.length > 0 ? process.memoryUsage().heapUsed : kept.length);
