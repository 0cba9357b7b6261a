// SPDX-License-Identifier: Apache-2.0
// sdk_server.mjs TEMPLATES - word_count by the official TypeScript SDK, in
// process, and programs of TEMPLATES by bubblewrap, over HTTP with sessions;
// and word_count by its 2.x, stateless, as it answers MCP 2026-07-28. Prints its
// three endpoints: JSON answers, event streams, stateless.
import {spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {createServer} from 'node:http';
import {toNodeHandler} from '@modelcontextprotocol/node';
import {McpServer} from '@modelcontextprotocol/sdk/server/mcp.js';
import {StreamableHTTPServerTransport} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {McpServer as StatelessServer, createMcpHandler} from '@modelcontextprotocol/server';
import * as z from 'zod';

const PROGRAMS = {empty_sh: 'main.sh', empty_python: 'main.py', empty_numpy_cold: 'main.py'};
const CAGE = [
	'--unshare-all', '--die-with-parent', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin',
	'--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev',
	'--tmpfs', '/tmp', '--ro-bind-try', '/etc/alternatives', '/etc/alternatives',
];

function answer(result) {
	return {content: [{type: 'text', text: JSON.stringify(result)}], structuredContent: result};
}

function runCaged(name, inputs) {
	return new Promise((resolve, reject) => {
		const args = [...CAGE, '--ro-bind', `${process.argv[2]}/${name}`, '/pkg', `/pkg/${PROGRAMS[name]}`];
		const child = spawn('bwrap', args, {stdio: ['pipe', 'pipe', 'inherit'], env: {PATH: '/usr/bin:/bin'}});
		let output = '';

		child.stdin.on('error', () => {}); // it may end without reading
		child.stdin.end(JSON.stringify(inputs));
		child.stdout.setEncoding('utf8').on('data', (text) => output += text);
		child.on('error', reject);
		child.on('close', (status) => {
			if (status === 0)
				resolve(answer(JSON.parse(output)));
			else
				reject(new Error(`${name} ended with ${status}`));
		});
	});
}

const WORDS = {description: 'Counts the words of a text.', inputSchema: z.object({text: z.string()})};
const countWords = ({text}) => answer({words: text.match(/\S+/g)?.length ?? 0});

function tools() {
	const server = new McpServer({name: 'sdk', version: '1.0.0'});

	server.registerTool('word_count', WORDS, countWords);
	for (const name of Object.keys(PROGRAMS))
		server.registerTool(name, {description: 'Gives nothing.', inputSchema: {}}, (inputs) => runCaged(name, inputs));
	return server;
}

async function serve(enableJsonResponse) {
	const sessions = new Map();

	async function transportOf(id) {
		if (sessions.has(id))
			return sessions.get(id);
		const transport = new StreamableHTTPServerTransport({
			sessionIdGenerator: randomUUID,
			enableJsonResponse,
			onsessioninitialized: (made) => sessions.set(made, transport),
		});

		await tools().connect(transport);
		return transport;
	}

	return listen(async (req, res) => {
		await (await transportOf(req.headers['mcp-session-id'])).handleRequest(req, res);
	});
}

// Its own documentation has a server made for each request.
function serveStateless() {
	return listen(toNodeHandler(createMcpHandler(() => {
		const server = new StatelessServer({name: 'sdk', version: '1.0.0'});

		server.registerTool('word_count', WORDS, countWords);
		return server;
	}, {legacy: 'reject'})));
}

async function listen(handler) {
	const http = createServer(handler);

	http.keepAliveTimeout = 0;
	await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
	return `127.0.0.1:${http.address().port}/mcp`;
}

console.log(await serve(true), await serve(false), await serveStateless());
