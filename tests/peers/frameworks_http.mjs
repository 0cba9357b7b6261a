// SPDX-License-Identifier: Apache-2.0
// frameworks_http.mjs - clients that exist, over HTTP, side by side: each has a
// token, and a way to the server that counts its requests.
import {frameworks} from './frameworks.mjs';
import {proxy} from './proxy.mjs';
import {is, main, ok, rejection, until, within} from './tap.mjs';

const url = new URL(process.env.PADDOCK_URL);
const tokens = JSON.parse(process.env.PADDOCK_TOKENS);
const WANTED = ['run_task_template', 'get_task_run', 'greet', 'idle', 'bulk', 'awkward', 'awkward_too'];
const IDLE_MS = 10000;
let clients = [];

// Each client by itself: what fails in one is not the others' failure.
async function each(code) {
	await Promise.all(clients.map(async (client) => {
		try {
			await within(code(client), `the end of ${client.name}`);
		} catch (e) {
			ok(false, `${client.name}: goes through`, e.stack ?? String(e));
			client.failed = true;
		}
	}));
	clients = clients.filter((c) => !c.failed);
}

const valueOf = (answer) => answer.structured ?? JSON.parse(answer.text);

async function connecting() {
	clients = Object.entries(tokens).map(([name, token]) => ({name, token, ...frameworks[name]}));
	await each(async (client) => {
		client.way = await proxy(url);
		Object.assign(client, await client.open({url: client.way.url, token: client.token}));
		is(WANTED.filter((name) => !client.tools.includes(name)), [], `${client.name}: offers all tools`);
	});
}

async function calling() {
	await each(async ({name, call}) => {
		is(valueOf(await call('greet', {name: 'Ada'})), {greeting: 'Hello, Ada!'}, `${name}: a structured result`);

		const failed = await call('fail', {});

		ok(failed.refused && failed.text.includes('NO_LUCK'), `${name}: a run that failed`, failed);
	});
}

// A client that cannot read one tool's schemas may list none at all.
async function awkward() {
	await each(async ({name, call}) => {
		for (const tool of ['awkward', 'awkward_too'])
			is(valueOf(await call(tool, {word: 'a.b-@'})), {word: 'a.b-@'}, `${name}: ${tool} schemas`);
	});
}

async function runsOf({call}, status) {
	return valueOf(await call('list_task_runs', {status})).runs;
}

async function aborting() {
	await each(async (client) => {
		const abort = new AbortController();
		const call = client.call('idle', {}, {signal: abort.signal});

		call.catch(() => {});
		await until('a run to run', async () => (await runsOf(client, 'running')).length === 1);
		abort.abort();
		await rejection(call, `${client.name}: an aborted call is rejected`);
		if (client.silent)
			await client.call('cancel_task_run', {runId: (await runsOf(client, 'running'))[0].runId});
		ok(await until('its run to end', async () => !(await runsOf(client, 'running')).length),
			`${client.name}: and its run ends`);
	});
}

async function silence() {
	clients.forEach((c) => c.way.requests());
	await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
	for (const {name, way} of clients) {
		const asked = way.requests();

		ok(asked.filter((method) => method === 'GET').length <= 2 && asked.length <= 3,
			`${name}: an aborted call leaves silence behind`, asked);
	}
}

async function end() {
	await each(async (client) => {
		is(valueOf(await client.call('greet', {name: 'Bo'})), {greeting: 'Hello, Bo!'}, `${client.name}: goes on`);
		await client.close();
		client.way.close();
	});
}

await main(connecting, calling, awkward, aborting, silence, end);
