// SPDX-License-Identifier: Apache-2.0
// client2_restart.mjs - the TypeScript client 2 by MCP 2026-07-28, whose server
// is ended, or killed, and started again under it: it goes on, its tasks are there,
// and it is told when it is told no more.
import {existsSync} from 'node:fs';
import {createTaskSessionFromClient, resultFromTaskOutcome} from '@modelcontextprotocol/ext-tasks/client';
import {addTemplate, client2Modern, serverPid, textOf} from './connect.mjs';
import {rawDispatch} from './raw.mjs';
import {is, main, ok, signal, until, within} from './tap.mjs';

const {PADDOCK_TEMPLATES} = process.env;
const LATEST = '2026-07-28';
const able = {elicitation: {}};
let client, session, restarts = 0;

async function restart(how) {
	const done = `${PADDOCK_TEMPLATES}/../restarted.${++restarts}`;

	process.stdout.write(`do restart ${how}\n`);
	await until('the server to be there again', () => existsSync(done));
}

async function listening() {
	const changed = signal();

	client = await client2Modern('auto', {
		capabilities: able,
		listChanged: {tools: {autoRefresh: true, debounceMs: 10, onChanged: (e, list) => changed.fire({e, list})}},
	});
	await until('its subscription', () => client.autoOpenedSubscription);
	addTemplate('greet', 'greet_anew');
	process.kill(serverPid(client), 'SIGHUP');

	const {e, list} = await within(changed.promise, 'the change');

	ok(!e && list.some((t) => t.name === 'greet_anew'), 'a client that wants to hear of changes listens by itself', e);
}

async function ended() {
	const own = await client.listen({toolsListChanged: true});

	await restart('TERM');
	is(await within(own.closed, 'its end'), 'graceful', 'a server that ends says so to who listens');
	is((await client.callTool({name: 'greet', arguments: {name: 'Ada'}})).structuredContent, {greeting: 'Hello, Ada!'},
		'calls go on with the next one');
}

async function killed() {
	session = createTaskSessionFromClient(client, {
		endpointId: 'peer', rawDispatch: rawDispatch(client),
		v2RequestFraming: {protocolVersion: LATEST, clientInfo: {name: 'peer', version: '1'}, clientCapabilities: able},
		onInputRequest: () => restart('KILL').then(() => ({action: 'accept', content: {confirm: true}})),
	});

	const own = await client.listen({toolsListChanged: true});
	const done = await session.callTool('slow', {ms: 1100});
	const {outcome} = await done.settle();
	const idle = await session.callTool('idle', {});

	is(JSON.parse(textOf(resultFromTaskOutcome(outcome))), {slept: 1100}, 'a task');
	await restart('KILL');
	is(await within(own.closed, 'its end'), 'remote', 'a server that is killed says nothing to who listens');

	const lost = resultFromTaskOutcome((await idle.settle()).outcome);

	ok(lost.isError && /RUN_INTERRUPTED/.test(textOf(lost)), 'a task that it took along says so', lost);

	// it is asked, and its server dies before it has the answer
	const asked = await session.callTool('confirm_task', {file: 'a'});
	const answered = resultFromTaskOutcome((await asked.settle()).outcome);

	ok(answered.isError && /RUN_INTERRUPTED/.test(textOf(answered)), 'so does one that had asked', answered);
}

// What a call asks is answered to a server that knows nothing of it.
async function parked() {
	const other = await client2Modern({pin: LATEST}, {capabilities: able}, (c) =>
		c.setRequestHandler('elicitation/create', () =>
			restart('KILL').then(() => ({action: 'accept', content: {confirm: true}}))));
	const result = await other.callTool({name: 'confirm', arguments: {file: 'a'}});

	ok(result.isError && /RUN_INTERRUPTED/.test(textOf(result)), 'and so does a call that had asked', result);
	await other.close();
	await session.close();
	await client.close();
}

await main(listening, ended, killed, parked);
