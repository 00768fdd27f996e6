// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// For Rhino: makes records from a seed, parses them, groups them, and compresses each group with
// Java's zlib, which is native code. Prints a line for each round, the same on every machine.
var state = 7;
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor(state / 65536) % below;
}
function record(n) {
    var tags = [];
    for (var i = number(8); i >= 0; --i) tags.push("tag" + number(50));
    return { id: n, name: "name" + number(10000), tags: tags, value: number(1000) };
}
function compressed(text) {
    var deflater = new java.util.zip.Deflater(6);
    var room = java.lang.reflect.Array.newInstance(java.lang.Byte.TYPE, 65536);
    deflater.setInput(new java.lang.String(text).getBytes("UTF-8"));
    deflater.finish();
    var length = 0;
    while (!deflater.finished()) length += deflater.deflate(room);
    deflater.end();
    return length;
}
var rounds = parseInt(arguments[0], 10);
for (var round = 0; round < rounds; ++round) {
    var lines = [];
    for (var n = 0; n < 300; ++n) lines.push(JSON.stringify(record(n)));
    var groups = {};
    lines.forEach(function (line) {
        var one = JSON.parse(line);
        one.tags.forEach(function (tag) {
            (groups[tag] = groups[tag] || []).push(one);
        });
    });
    var names = Object.keys(groups).sort();
    var bytes = 0;
    var sum = 0;
    names.forEach(function (name) {
        bytes += compressed(JSON.stringify(groups[name])) > 0 ? 1 : 0;
        groups[name].forEach(function (one) { sum += one.value; });
    });
    print(round + " " + names.length + " " + bytes + " " + sum);
}
