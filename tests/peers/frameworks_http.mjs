// SPDX-License-Identifier: Apache-2.0
// frameworks_http.mjs - clients that exist, over HTTP: each has a token, and a
// way to the server that counts its requests.
import {existsSync} from 'node:fs';
import {aborting, awkward, calling, connecting, each, end, large, valueOf, waiting} from './journey.mjs';
import {proxy} from './proxy.mjs';
import {is, main, ok, until} from './tap.mjs';

const {PADDOCK_TEMPLATES, PADDOCK_TOKENS, PADDOCK_URL} = process.env;
const url = new URL(PADDOCK_URL);
const tokens = JSON.parse(PADDOCK_TOKENS);
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

let restarts = 0;

async function restarted(signal) {
	const done = `${PADDOCK_TEMPLATES}/../restarted.${++restarts}`;

	process.stdout.write(`do restart ${signal}\n`);
	await until('the server to come again', () => existsSync(done));
}

const called = (what) => each(async ({name, call}) =>
	is(valueOf(await call('greet', {name: 'Cy'})), {greeting: 'Hello, Cy!'}, `${name}: calls after ${what}`));

async function restart() {
	await restarted('TERM');
	await called('a restart');
}

async function crash() {
	const calls = new Map();

	await each(async (client) => calls.set(client.name, (await waiting(client)).call));
	await restarted('KILL');
	await each(async ({name}) => {
		// "idle" cannot have ended well, so any text is a refusal; frameworks word refusals in their ways
		const how = await calls.get(name).then((answer) => answer.text, (e) => e.message);

		ok(how, `${name}: hears what became of a call when the server was killed`, how);
	});
	await called('a crash');
}

await main(overHttp, calling, awkward, aborting, silence, large, restart, crash, end);
