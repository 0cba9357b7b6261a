// SPDX-License-Identifier: Apache-2.0
// frameworks_http.mjs - clients that exist, over HTTP: each has a token, and a
// way to the server that counts its requests.
import {aborting, awkward, calling, connecting, each, end} from './journey.mjs';
import {proxy} from './proxy.mjs';
import {main, ok} from './tap.mjs';

const url = new URL(process.env.PADDOCK_URL);
const tokens = JSON.parse(process.env.PADDOCK_TOKENS);
const IDLE_MS = 10000;

const overHttp = () => connecting(Object.keys(tokens), async (client) => {
	client.way = await proxy(url);
	return {url: client.way.url, token: tokens[client.name]};
});

async function silence() {
	await each(async ({way}) => way.requests());
	await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
	await each(async ({name, way}) => {
		const asked = way.requests();

		ok(asked.filter((method) => method === 'GET').length <= 2 && asked.length <= 3,
			`${name}: an aborted call leaves silence behind`, asked);
	});
}

await main(overHttp, calling, awkward, aborting, silence, end);
