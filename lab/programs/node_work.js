// SPDX-License-Identifier: MIT
// Buffers, compression, JSON and four worker threads; prints digests that depend on the argument only: how many rounds.
'use strict';
const crypto = require('crypto');
const zlib = require('zlib');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

function random(seed) {
    let state = seed >>> 0;
    return (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return (state >>> 8) % below;
    };
}

function work(seed, rounds) {
    const pick = random(seed);
    const hash = crypto.createHash('sha256');
    for (let round = 0; round < rounds; round++) {
        const kept = [];
        for (let i = 0; i < 4000; i++) {
            const buffer = Buffer.alloc(1 + pick(20000), i & 255);
            if (pick(4) === 0) kept.push(buffer);
            if (kept.length > 200) kept.splice(pick(200), 50);
        }
        const all = Buffer.concat(kept);
        hash.update(all);
        hash.update(zlib.inflateSync(zlib.deflateSync(all)));
        const objects = [];
        for (let i = 0; i < 5000; i++)
            objects.push({ id: i, name: 'n'.repeat(pick(50)), list: Array.from({ length: pick(10) }, () => pick(1000)) });
        hash.update(JSON.stringify(JSON.parse(JSON.stringify(objects))));
        const map = new Map();
        for (let i = 0; i < 30000; i++) map.set('key ' + pick(9000), (map.get('key ' + pick(9000)) || 0) + i);
        hash.update(JSON.stringify([...map]));
    }
    return hash.digest('hex');
}

if (isMainThread) {
    const rounds = Number(process.argv[2] || 1);
    const digests = [];
    let left = 4;
    console.log(work(99, rounds));
    for (let i = 0; i < 4; i++) {
        const worker = new Worker(__filename, { workerData: { seed: i + 1, rounds } });
        worker.on('message', (digest) => { digests[i] = digest; });
        worker.on('error', (error) => { throw error; });
        worker.on('exit', (code) => {
            if (code !== 0) throw new Error(`worker ended with ${code}`);
            if (--left === 0) digests.forEach((digest) => console.log(digest));
        });
    }
} else {
    parentPort.postMessage(work(workerData.seed, workerData.rounds));
}
