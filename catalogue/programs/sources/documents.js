// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes up documents, writes and parses them as JSON, and groups their contents. Then it compresses and
// expands the text, and prints a checksum of everything. The argument is the number of rounds.
const { createHash } = require("node:crypto");
const { deflateSync, inflateSync } = require("node:zlib");

const rounds = Number(process.argv[2] || 4);
const hash = createHash("sha256");
let state = 2002;

function number(below) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return (state >>> 16) % below;
}

function word() {
  let text = "";
  for (let left = 2 + number(9); left > 0; --left) text += String.fromCharCode(97 + number(26));
  return text;
}

for (let round = 0; round < rounds; ++round) {
  const records = [];
  for (let n = 0; n < 4000; ++n) {
    records.push({ id: n, name: word(), tags: [word(), word(), word()], size: number(100000) });
  }
  const text = JSON.stringify(records);
  const packed = deflateSync(Buffer.from(text));
  const again = JSON.parse(inflateSync(packed).toString());
  const groups = new Map();
  for (const record of again) {
    for (const tag of record.tags) {
      const key = tag.slice(0, 2);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(Buffer.from(record.name));
    }
  }
  for (const key of [...groups.keys()].sort()) hash.update(key).update(Buffer.concat(groups.get(key)));
  hash.update(text);
}
console.log(hash.digest("hex"));
