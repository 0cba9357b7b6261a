// SPDX-License-Identifier: Apache-2.0
// proxy.mjs - between a client and the server, so that connections can be cut.
import {connect, createServer} from 'node:net';

// {url, cut}: cut() breaks each connection on which TEXT has passed to the
// client; what comes later goes through.
export async function proxy(to) {
	const pairs = new Set();
	const server = createServer((near) => {
		const far = connect(to.port, to.hostname);
		const pair = {near, far, seen: ''};
		const end = () => {
			near.destroy();
			far.destroy();
			pairs.delete(pair);
		};

		pairs.add(pair);
		far.on('data', (bytes) => (pair.seen += bytes));
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
		close: () => server.close(),
	};
}
