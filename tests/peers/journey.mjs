// SPDX-License-Identifier: Apache-2.0
// journey.mjs - what each client of frameworks.mjs does, side by side, over
// HTTP or stdio.
import {frameworks} from './frameworks.mjs';
import {is, ok, rejection, until, within} from './tap.mjs';

const WANTED = ['run_task_template', 'get_task_run', 'greet', 'idle', 'bulk', 'awkward', 'awkward_too'];

export const valueOf = (answer) => answer.structured ?? JSON.parse(answer.text);

let clients = [];

// Each client by itself: what fails in one is not the others' failure.
export async function each(code) {
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

// The clients NAMES; WAY gives what each opens.
export async function connecting(names, way) {
	clients = names.map((name) => ({name, ...frameworks[name]}));
	await each(async (client) => {
		Object.assign(client, await client.open(await way(client)));
		is(WANTED.filter((name) => !client.tools.includes(name)), [], `${client.name}: offers all tools`);
	});
}

export async function calling() {
	await each(async ({name, call}) => {
		is(valueOf(await call('greet', {name: 'Ada'})), {greeting: 'Hello, Ada!'}, `${name}: a structured result`);

		const failed = await call('fail', {});

		ok(failed.refused && failed.text.includes('NO_LUCK'), `${name}: a run that failed`, failed);
	});
}

// A client that cannot read one tool's schemas may list none at all.
export async function awkward() {
	await each(async ({name, call}) => {
		for (const tool of ['awkward', 'awkward_too'])
			is(valueOf(await call(tool, {word: 'a.b-@'})), {word: 'a.b-@'}, `${name}: ${tool} schemas`);
	});
}

const running = async ({call}) => valueOf(await call('list_task_runs', {status: 'running'})).runs;

// A call of what does not end by itself, once it runs.
export async function waiting(client, options) {
	const call = client.call('idle', {}, options);

	call.catch(() => {});
	await until('a run to run', async () => (await running(client)).length === 1);
	return {call};
}

export async function aborting() {
	await each(async (client) => {
		const abort = new AbortController();
		const {call} = await waiting(client, {signal: abort.signal});

		abort.abort();
		await rejection(call, `${client.name}: an aborted call is rejected`);
		if (client.silent) // unless the end of the connection ended the run
			for (const {runId} of await running(client))
				await client.call('cancel_task_run', {runId});
		ok(await until('its run to end', async () => !(await running(client)).length),
			`${client.name}: and its run ends`);
	});
}

const SIX_MB = 6000000;
const LONG = 8600000; // more than a message may have

// In one message, twice, it would be more than most clients read.
export async function large() {
	await each(async ({name, call}) => {
		const whole = await call('bulk', {of: 'x', times: SIX_MB});

		ok(whole.structured ? whole.structured.text.length === SIX_MB : whole.text.startsWith('{"text":"xxxxxxxx'),
			`${name}: a result of 6 MB`, Object.keys(whole.structured ?? {}));

		// in JSON twice as long
		const link = await call('bulk', {of: '"', times: LONG / 2});
		const uri = link.structured?.resultUri ?? link.links[0];

		ok(uri?.startsWith('paddock://runs/') && !link.refused, `${name}: of one that is longer, a link`,
			JSON.stringify(link).slice(0, 1000));
	});
}

export async function end() {
	await each(async (client) => {
		is(valueOf(await client.call('greet', {name: 'Bo'})), {greeting: 'Hello, Bo!'}, `${client.name}: goes on`);
		await client.close();
	});
}
