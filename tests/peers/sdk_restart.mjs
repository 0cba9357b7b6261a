// SPDX-License-Identifier: Apache-2.0
// sdk_restart.mjs - the two official clients, whose server is killed, or ended,
// and started again under them: neither initializes again, and none has to.
import {existsSync} from 'node:fs';
import {CallToolResultSchema} from '@modelcontextprotocol/sdk/types.js';
import {addTemplate, client1, client2} from './connect.mjs';
import {is, main, ok, rejection, rises, signal, until} from './tap.mjs';

const {PADDOCK_TEMPLATES} = process.env;
const schema = {1: [CallToolResultSchema], 2: []};
let restarts = 0;

async function restart(how) {
	const done = `${PADDOCK_TEMPLATES}/../restarted.${++restarts}`;

	process.stdout.write(`do restart ${how}\n`);
	await until('the server to be there again', () => existsSync(done));
}

const call = (n, client, name, args, options) => client.callTool({name, arguments: args}, ...schema[n], options);

async function goesOn(n, client, how) {
	const id = client.transport.sessionId;

	is((await call(n, client, 'greet', {name: 'Ada'})).structuredContent, {greeting: 'Hello, Ada!'},
		`SDK ${n}: calls go on after ${how}`);
	ok((await client.listTools()).tools.some((t) => t.name === 'greet'), `SDK ${n}: lists, too`);
	is(client.transport.sessionId, id, `SDK ${n}: in the same session`);

	const heard = [];

	await call(n, client, 'count', {to: 3}, {onprogress: (p) => heard.push(p.progress)});
	rises(heard, 3, `SDK ${n}: with progress`);
}

async function all(make, n) {
	const client = await make();

	client.onerror = () => {};
	for (const how of ['KILL', 'TERM', 'KILL']) {
		await restart(how);
		await goesOn(n, client, how);
	}

	// a call that is under way is lost with its server, and said so
	const started = signal();
	const abort = new AbortController();
	const lost = call(n, client, 'idle', {}, {onprogress: started.fire, signal: abort.signal});

	lost.catch(() => {});
	await started.promise;
	await restart('KILL');
	await goesOn(n, client, 'KILL in mid-call');
	abort.abort();
	await rejection(lost, `SDK ${n}: the call that was lost is given up`);
	await goesOn(n, client, 'that');
	await client.transport.terminateSession();
	await restart('KILL');
	await client.close();
}

async function sdk1() {
	await all(client1, 1);
}

async function sdk2() {
	await all(client2, 2);
}

await main(sdk1, sdk2);
