// sdk_server.mjs - word_count by the official TypeScript SDK, in process, over
// HTTP with sessions. Prints its two endpoints: JSON answers, event streams.
import {randomUUID} from 'node:crypto';
import {createServer} from 'node:http';
import {McpServer} from '@modelcontextprotocol/sdk/server/mcp.js';
import {StreamableHTTPServerTransport} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';

function wordCount() {
	const server = new McpServer({name: 'sdk', version: '1.0.0'});

	server.registerTool('word_count', {
		description: 'Counts the words of a text.',
		inputSchema: {text: z.string()},
	}, ({text}) => {
		const result = {words: text.match(/\S+/g)?.length ?? 0};

		return {content: [{type: 'text', text: JSON.stringify(result)}], structuredContent: result};
	});
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

		await wordCount().connect(transport);
		return transport;
	}

	const http = createServer(async (req, res) => {
		await (await transportOf(req.headers['mcp-session-id'])).handleRequest(req, res);
	});

	http.keepAliveTimeout = 0;
	await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
	return `127.0.0.1:${http.address().port}/mcp`;
}

console.log(await serve(true), await serve(false));
