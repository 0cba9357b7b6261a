#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Digests of texts: computed in a worker thread, sorted by a child process.
'use strict';
const {createHash} = require('node:crypto');
const {readFileSync, writeSync} = require('node:fs');
const {spawnSync} = require('node:child_process');
const {Worker, isMainThread, parentPort, workerData} = require('node:worker_threads');

const digest = (text) => ({
	sha256: createHash('sha256').update(text, 'utf8').digest('hex'),
	characters: [...text].length,
	bytes: Buffer.byteLength(text, 'utf8'),
});

const say = (message) => writeSync(3, JSON.stringify(message) + '\n');

if (isMainThread) {
	const {texts} = JSON.parse(readFileSync(0, 'utf8'));

	say({progress: {done: 0, total: texts.length}});
	const worker = new Worker(__filename, {workerData: texts});
	worker.on('error', (err) => { throw err; });
	worker.on('message', (digests) => {
		const lines = digests.map((d) => d.sha256 + '\n').join('');
		const sorted = spawnSync('sort', [], {input: lines, encoding: 'utf8'});

		if (sorted.status !== 0)
			throw new Error(`sort: ${sorted.error || sorted.stderr}`);
		say({progress: {done: texts.length, total: texts.length}});
		process.stdout.write(JSON.stringify({
			digests, sorted: sorted.stdout.split('\n').slice(0, -1)}));
	});
} else {
	parentPort.postMessage(workerData.map(digest));
}
