// SPDX-License-Identifier: Apache-2.0
// sdk_http.mjs - the TypeScript SDK 1 over HTTP: streams that are cut and taken
// up again, sessions that end.
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {CallToolResultSchema} from '@modelcontextprotocol/sdk/types.js';
import {addTemplate, client1, serverPid, textOf, url} from './connect.mjs';
import {proxy} from './proxy.mjs';
import {is, main, ok, rises, until} from './tap.mjs';

let between;
const soon = {maxReconnectionDelay: 50, initialReconnectionDelay: 10, reconnectionDelayGrowFactor: 1, maxRetries: 10};

// A client whose way to the server can be cut; GETS are what it listens by.
async function throughProxy(prepare = () => {}, options = {}) {
	const gets = [];
	const client = new Client({name: 'peer', version: '1.0.0'}, {capabilities: {}, ...options});

	prepare(client);
	client.onerror = () => {};
	await client.connect(new StreamableHTTPClientTransport(between.url, {
		reconnectionOptions: soon,
		fetch: async (to, init) => {
			const answer = await fetch(to, init);

			if (init?.method === 'GET')
				gets.push({after: new Headers(init.headers).get('last-event-id'), ok: answer.ok});
			return answer;
		},
	}));
	return {client, gets};
}

async function resumption() {
	between = await proxy(url);

	const {client, gets} = await throughProxy();
	const heard = [];
	let isCut = false;
	const result = await client.callTool({name: 'count', arguments: {to: 10}}, CallToolResultSchema, {
		onprogress({progress}) {
			heard.push(progress);
			if (progress < 3 || isCut)
				return;
			isCut = true;
			ok(between.cut(`"progress":${progress}`) > 0, 'the stream of a call is cut in the middle');
		},
	});

	is(JSON.parse(textOf(result)), {counted: 10}, 'its result comes all the same');
	rises(heard, 10, 'and its progress, none twice');
	ok(gets.some((g) => g.after && g.ok), 'by Last-Event-ID', gets);
	await client.close();
}

async function listening() {
	const changes = [];
	const {client, gets} = await throughProxy(() => {}, {
		listChanged: {tools: {debounceMs: 0, onChanged: (e, list) => changes.push(list.map((t) => t.name))}},
	});

	await until('the client to listen', () => gets.some((g) => g.ok));

	const before = gets.length;

	between.cut('text/event-stream');
	addTemplate('greet', 'greet_unheard');
	process.kill(serverPid(client), 'SIGHUP');
	await until('the client to listen again', () => gets.slice(before).some((g) => g.ok));
	ok(await until('what was told meanwhile', () => changes.some((names) => names.includes('greet_unheard'))),
		'what belongs to no request is heard after a cut, too');
	await client.close();
}

async function ending() {
	const client = await client1();
	const id = client.transport.sessionId;

	await client.transport.terminateSession();

	const answer = await fetch(url, {
		method: 'POST',
		headers: {'content-type': 'application/json', accept: 'application/json, text/event-stream',
			'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25'},
		body: JSON.stringify({jsonrpc: '2.0', id: 1, method: 'ping'}),
	});

	is(answer.status, 404, 'a session that was ended is gone');
	await client.close();
	between.close();
}

await main(resumption, listening, ending);
