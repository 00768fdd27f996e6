// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes node call malloc in several ways: buffers outside V8's heap, and zlib and crypto on the thread
// pool. Workers start, allocate and end, and much text goes through JSON.
import { createHash, pbkdf2, randomBytes, scryptSync } from 'node:crypto';
import { promisify } from 'node:util';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { brotliCompressSync, brotliDecompressSync, constants, gunzip, gzip } from 'node:zlib';

const sha = data => createHash('sha256').update(data).digest('hex');

function* numbers(state) {
  for (;;) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    yield state >>> 8;
  }
}

function buffers(seed, count) {
  const next = numbers(seed);
  const kept = [];
  for (let i = 0; i < count; ++i) {
    const size = next.next().value % (i % 50 === 0 ? 300_000 : 3_000);
    const buffer = i % 2 ? Buffer.alloc(size, i & 255) : Buffer.allocUnsafeSlow(size).fill(i & 255);
    // Some live long, some die at once, some are replaced by a larger copy.
    if (i % 3 === 0) kept.push(buffer);
    else if (i % 7 === 0 && kept.length) kept[i % kept.length] = Buffer.concat([kept.pop(), buffer]);
  }
  return kept;
}

async function main() {
  const kept = buffers(7, 20_000);
  console.log('buffers', kept.length, sha(Buffer.concat(kept)));

  const texts = kept.slice(0, 40);
  const packed = await Promise.all(texts.map(text => promisify(gzip)(text, { level: 6 })));
  const back = await Promise.all(packed.map(data => promisify(gunzip)(data)));
  console.log('gzip', back.every((data, i) => data.equals(texts[i])), sha(Buffer.concat(packed)));
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
  const brotli = brotliCompressSync(texts[0], fast);
  console.log('brotli', brotliDecompressSync(brotli).equals(texts[0]), sha(brotli));

  const keys = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(i => promisify(pbkdf2)(`key ${i}`, 'salt', 20_000, 64, 'sha512')));
  console.log('pbkdf2', sha(Buffer.concat(keys)));
  console.log('scrypt', scryptSync('key', 'salt', 64, { N: 16384, r: 8, p: 1 }).toString('hex'));
  console.log('random', new Set(Array.from({ length: 1000 }, () => randomBytes(64).toString('hex'))).size);

  const next = numbers(11);
  const records = Array.from({ length: 40_000 }, (_, id) => ({
    id, tags: [next.next().value.toString(36), `é${next.next().value}`], nested: { even: id % 2 === 0 },
  }));
  const json = JSON.stringify(records);
  console.log('json', json.length, sha(JSON.stringify(JSON.parse(json))) === sha(json), sha(json));

  for (let round = 0; round < 2; ++round) {
    const answers = await Promise.all([1, 2, 3, 4].map(seed => new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: seed });
      worker.once('message', resolve);
      worker.once('error', reject);
    })));
    console.log('workers', answers.join(' '));
  }
  console.log('done');
}

if (isMainThread) {
  await main();
} else {
  parentPort.postMessage(sha(Buffer.concat(buffers(workerData, 4_000))));
}
