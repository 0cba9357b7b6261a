// SPDX-License-Identifier: Apache-2.0
// proxy.mjs - between a client and the server, so that connections can be cut,
// and requests counted.
import {connect, createServer} from 'node:net';

// A request line, wherever it is in what a client sends.
const REQUEST = /(GET|POST|DELETE) \/\S* HTTP\/1\.1\r\n/g;

// {url, cut, requests}: cut() breaks each connection on which TEXT has
// passed to the client; what comes later goes through. requests() are the
// methods since it was asked last.
export async function proxy(to) {
	const pairs = new Set();
	let methods = [];
	const server = createServer((near) => {
		const far = connect(to.port, to.hostname);
		const pair = {near, far, seen: ''};
		let asked = '';
		const end = () => {
			near.destroy();
			far.destroy();
			pairs.delete(pair);
		};

		pairs.add(pair);
		far.on('data', (bytes) => (pair.seen += bytes));
		near.on('data', (bytes) => {
			const all = [...(asked += bytes.toString('latin1')).matchAll(REQUEST)];
			const last = all.at(-1);

			methods.push(...all.map((m) => m[1]));
			asked = asked.slice(last ? last.index + last[0].length : 0).slice(-64);
		});
		near.pipe(far);
		far.pipe(near);
		for (const socket of [near, far])
			socket.on('error', end).on('close', end);
	});

	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: new URL(`http://127.0.0.1:${server.address().port}${to.pathname}`),
		cut(text) {
			const hit = [...pairs].filter((pair) => pair.seen.includes(text));

			hit.forEach((pair) => pair.near.destroy());
			return hit.length;
		},
		requests: () => methods.splice(0),
		close: () => server.close(),
	};
}
