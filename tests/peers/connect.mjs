// SPDX-License-Identifier: Apache-2.0
// connect.mjs - the server under test, as tests/lib/Peer.pm tells of it: a
// command to speak to over stdio, or a URL. Each client is one of its own.
import {openSync, cpSync, readFileSync, writeFileSync} from 'node:fs';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {Client as Client2, StreamableHTTPClientTransport as Http2} from '@modelcontextprotocol/client';
import {StdioClientTransport as Stdio2} from '@modelcontextprotocol/client/stdio';
import {signal, within} from './tap.mjs';

const {PADDOCK_URL, PADDOCK_COMMAND, PADDOCK_LOG, PADDOCK_TEMPLATES, PADDOCK_PID} = process.env;

export const http = PADDOCK_URL !== undefined;
export const url = http ? new URL(PADDOCK_URL) : null;
const me = {name: 'peer', version: '1.0.0'};

function stdio() {
	const [command, ...args] = JSON.parse(PADDOCK_COMMAND);

	return {command, args, stderr: openSync(PADDOCK_LOG, 'a')};
}

// Over HTTP a client listens by a GET, which connect() does not wait for.
function listening() {
	const heard = signal();

	return {
		heard: heard.promise,
		fetch: async (to, init) => {
			const answer = await fetch(to, init);

			if (init?.method === 'GET' && answer.ok)
				heard.fire();
			return answer;
		},
	};
}

async function connected(client, prepare, overHttp, overStdio) {
	const get = listening();

	client.errors = [];
	client.onerror = (e) => client.errors.push(e);
	prepare(client);
	await client.connect(http ? new overHttp(url, {fetch: get.fetch}) : new overStdio(stdio()));
	if (http)
		await within(get.heard, 'its GET');
	return client;
}

// A connected client of SDK 1; its transport is .transport.
export function client1(options = {}, prepare = () => {}) {
	const client = new Client(me, {capabilities: {}, ...options});

	return connected(client, prepare, StreamableHTTPClientTransport, StdioClientTransport);
}

export function client2(options = {}, prepare = () => {}) {
	const client = new Client2(me, {capabilities: {}, ...options});

	return connected(client, prepare, Http2, Stdio2);
}

// One that speaks MCP 2026-07-28: MODE is 'auto' or {pin: …}. Over HTTP it has no
// stream but those of its requests.
export async function client2Modern(mode, options = {}, prepare = () => {}) {
	const client = new Client2(me, {capabilities: {}, ...options, versionNegotiation: {mode}});

	client.errors = [];
	client.onerror = (e) => client.errors.push(e);
	prepare(client);
	await client.connect(http ? new Http2(url) : new Stdio2(stdio()));
	return client;
}

export const serverPid = (client) => Number(PADDOCK_PID ?? client.transport.pid);

// A copy of the template FROM, named TO; the server learns of it by SIGHUP.
export function addTemplate(from, to) {
	const file = `${PADDOCK_TEMPLATES}/${to}/template.json`;

	cpSync(`${PADDOCK_TEMPLATES}/${from}`, `${PADDOCK_TEMPLATES}/${to}`, {recursive: true});
	writeFileSync(file, JSON.stringify({...JSON.parse(readFileSync(file)), templateId: to}));
}

export const textOf = (result) => result.content.find((c) => c.type === 'text')?.text;
