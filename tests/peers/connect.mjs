// connect.mjs - the server under test, as tests/lib/Peer.pm tells of it: a
// command to speak to over stdio, or a URL. Each client is one of its own.
import {openSync, cpSync, readFileSync, writeFileSync} from 'node:fs';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {Client as Client2, StreamableHTTPClientTransport as Http2} from '@modelcontextprotocol/client';
import {StdioClientTransport as Stdio2} from '@modelcontextprotocol/client/stdio';

const {PADDOCK_URL, PADDOCK_COMMAND, PADDOCK_LOG, PADDOCK_TEMPLATES, PADDOCK_PID} = process.env;

export const http = PADDOCK_URL !== undefined;
export const url = http ? new URL(PADDOCK_URL) : null;
const me = {name: 'peer', version: '1.0.0'};

function stdio() {
	const [command, ...args] = JSON.parse(PADDOCK_COMMAND);

	return {command, args, stderr: openSync(PADDOCK_LOG, 'a')};
}

export function transport1(options) {
	return http ? new StreamableHTTPClientTransport(url, options)
		: new StdioClientTransport(stdio());
}

// A connected client of SDK 1; its transport is .transport.
export async function client1(options = {}, prepare = () => {}) {
	const client = new Client(me, {capabilities: {}, ...options});

	client.errors = [];
	client.onerror = (e) => client.errors.push(e);
	prepare(client);
	await client.connect(transport1());
	return client;
}

export async function client2(options = {}, prepare = () => {}) {
	const client = new Client2(me, {capabilities: {}, ...options});

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
