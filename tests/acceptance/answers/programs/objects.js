// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A script for Node that keeps some 90 MB of objects, which V8's own heap serves.
const kept = [];
let step = 0;
const timer = setInterval(() => {
    for (let i = 0; i < 8000; ++i) {
        kept.push({ number: i, name: `object ${step}-${i}` });
    }
    if (++step === 100) {
        clearInterval(timer);
    }
}, 12);
