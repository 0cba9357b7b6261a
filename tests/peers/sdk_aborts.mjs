// SPDX-License-Identifier: Apache-2.0
// sdk_aborts.mjs - what the two official clients ask of the server once they
// have aborted a call, or had an error: they come back for a stream that ended
// without a result, and go on with that for as long as they are let.
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {CallToolResultSchema} from '@modelcontextprotocol/sdk/types.js';
import {Client as Client2, StreamableHTTPClientTransport as Http2} from '@modelcontextprotocol/client';
import {addTemplate, serverPid, url} from './connect.mjs';
import {is, main, ok, rejection, signal, until} from './tap.mjs';

const QUIET_MS = 10000;
const me = {name: 'peer', version: '1.0.0'};

// A client of each; SENT are its requests, in order, as they come back.
async function connected(Of, Way, options) {
	const sent = [];
	const client = new Of(me, {capabilities: {}, ...options});

	client.onerror = (e) => (client.errors ??= []).push(e);
	await client.connect(new Way(url, {fetch: async (to, init) => {
		const one = {method: init?.method ?? 'GET', after: new Headers(init?.headers).get('last-event-id')};

		sent.push(one);
		const answer = await fetch(to, init);

		one.status = answer.status;
		return answer;
	}}));
	await until('the client to listen', () => sent.some((r) => r.method === 'GET' && r.status === 200));
	return {client, sent};
}

const schema = {1: [CallToolResultSchema], 2: []};
const call = (n, client, name, options) => client.callTool({name, arguments: {}}, ...schema[n], options);

// What came in QUIET_MS after CODE.
async function after(sent, code) {
	const before = sent.length;

	await code();
	await new Promise((r) => setTimeout(r, QUIET_MS));
	return sent.slice(before).filter((r) => r.method === 'GET');
}

async function aborted(n, client, how) {
	const abort = new AbortController();
	const started = signal();
	const p = call(n, client, 'idle', {signal: abort.signal, onprogress: started.fire});

	p.catch(() => {});
	await started.promise;
	abort.abort();
	await rejection(p, `SDK ${n}: ${how}`);
}

async function silence(n, Of, Way) {
	const changes = [];
	const {client, sent} = await connected(Of, Way, {
		listChanged: {tools: {debounceMs: 0, onChanged: (e, list) => changes.push(list?.map((t) => t.name) ?? [])}},
	});
	let gets = await after(sent, async () => {
		for (let i = 0; i < 3; i++)
			await aborted(n, client, `call ${i + 1} is aborted`);
	});

	ok(gets.length <= 3, `SDK ${n}: each of these costs a GET at most, in ${QUIET_MS / 1000} s`, gets);
	ok(gets.every((g) => g.status === 405), `SDK ${n}: which is told that the stream is over`, gets);
	is(client.errors ?? [], [], `SDK ${n}: and is no error to it`);
	gets = await after(sent, () => rejection(client.request({method: 'tools/call',
		params: {name: 'no_such_tool', arguments: {}, _meta: {progressToken: 7}}},
	...schema[n]), `SDK ${n}: a call is refused`));
	ok(gets.length <= 1, `SDK ${n}: nor does an error keep it busy`, gets);

	// its own stream was not lost over all that
	addTemplate('greet', `greet_after_${n}`);
	process.kill(serverPid(client), 'SIGHUP');
	ok(await until('the change', () => changes.some((names) => names.includes(`greet_after_${n}`))),
		`SDK ${n}: it still hears what belongs to no request`);
	await client.close();
}

const sdk1 = () => silence(1, Client, StreamableHTTPClientTransport);
const sdk2 = () => silence(2, Client2, Http2);

await main(() => Promise.all([sdk1(), sdk2()]));
