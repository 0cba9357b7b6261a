// SPDX-License-Identifier: Apache-2.0
// frameworks.mjs - the MCP clients of frameworks and bridges as people use them,
// without a model: a row each, by name. open({url, token}) or open({command, args, env})
// connects, and gives
//   tools: [name, ...], as the framework would offer them to a model;
//   call(name, args, {signal}): what the framework makes of an answer, as
//     {text, structured, links, refused}; it rejects when the framework does;
//   close().
// silent: it does not tell the server that a call was aborted.
import {createMCPClient} from '@ai-sdk/mcp';
import {StdioMCPTransport} from '@ai-sdk/mcp/mcp-stdio';
import {createMcpClient as genkitClient} from '@genkit-ai/mcp';
import {MultiServerMCPClient} from '@langchain/mcp-adapters';
import {MCPClient as MastraClient, getMcpCallToolContent} from '@mastra/mcp';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {MCPServerStdio, MCPServerStreamableHttp, RunContext, getAllMcpTools} from '@openai/agents-core';
import {genkit} from 'genkit';
import {MCPClient as McpUseClient} from 'mcp-use/client';

const bearer = (token) => ({Authorization: `Bearer ${token}`});
const texts = (content) => content.filter((c) => c.type === 'text').map((c) => c.text).join('\n');
const links = (content) => content.filter((c) => c.type === 'resource_link').map((c) => c.uri);

// Of a CallToolResult that comes as it is.
const asIs = (r) => ({text: texts(r.content), structured: r.structuredContent, links: links(r.content),
	refused: r.isError === true});

const refusal = (e) => ({text: String(e.message), links: [], refused: true});

async function aiSdk({url, token, ...command}) {
	const client = await createMCPClient({
		transport: url ? {type: 'http', url: url.href, headers: bearer(token)}
			: new StdioMCPTransport({...command, stderr: 'ignore'}),
	});
	const tools = await client.tools();

	return {
		tools: Object.keys(tools),
		call: async (name, input, {signal} = {}) => asIs(await tools[name].execute(input,
			{toolCallId: name, messages: [], abortSignal: signal})),
		close: () => client.close(),
	};
}

// A block by itself, or a list of them; a result of the tool's error is thrown.
function ofMessage({content, artifact}) {
	const blocks = typeof content === 'string' ? [JSON.parse(content)] : content;

	return {
		text: texts(blocks),
		structured: artifact.find((a) => a.type === 'mcp_structured_content')?.data,
		links: blocks.filter((b) => b.type === 'file').map((b) => b.url),
		refused: false,
	};
}

async function langchain({url, token, ...command}) {
	const client = new MultiServerMCPClient({
		mcpServers: {paddock: url ? {url: url.href, transport: 'http', headers: bearer(token)}
			: {...command, transport: 'stdio', stderr: 'ignore'}},
	});
	const tools = await client.getTools();
	const tool = Object.fromEntries(tools.map((t) => [t.name, t]));

	return {
		tools: Object.keys(tool),
		async call(name, args, {signal} = {}) {
			try {
				return ofMessage(await tool[name].invoke({type: 'tool_call', id: name, name, args}, {signal}));
			} catch (e) {
				if (/returned an error/.test(e.message))
					return refusal(e);
				throw e;
			}
		},
		close: () => client.close(),
	};
}

// What its model sees is the content alone.
async function openai({url, token, ...command}) {
	const server = url ? new MCPServerStreamableHttp({url: url.href, name: 'paddock', requestInit: {headers: bearer(token)}})
		: new MCPServerStdio({...command, name: 'paddock'});

	await server.connect();

	const tools = await getAllMcpTools({mcpServers: [server], errorFunction: null});
	const tool = Object.fromEntries(tools.map((t) => [t.name, t]));

	return {
		tools: Object.keys(tool),
		async call(name, args, {signal} = {}) {
			const got = await tool[name].invoke(new RunContext(), JSON.stringify(args), {signal});
			const answer = asIs({content: [got].flat()});

			return {...answer, refused: answer.text.startsWith('{"error":')};
		},
		close: () => server.close(),
	};
}

async function mastra({url, token, ...command}) {
	const client = new MastraClient({id: String(url ?? 'stdio'),
		servers: {paddock: url ? {url, requestInit: {headers: bearer(token)}} : command}});
	const tools = await client.listTools();

	return {
		tools: Object.keys(tools).map((n) => n.replace(/^paddock_/, '')),
		async call(name, input, {signal} = {}) {
			try {
				const got = await tools[`paddock_${name}`].execute(input, {abortSignal: signal});
				const content = getMcpCallToolContent(got) ?? got.content;

				return {text: texts(content), structured: got, links: links(content), refused: false};
			} catch (e) {
				if (e.id === 'MCP_CLIENT_TOOL_EXECUTION_FAILED')
					return refusal(e);
				throw e;
			}
		},
		close: () => client.disconnect(),
	};
}

async function mcpUse({url, token, ...command}) {
	const client = new McpUseClient({mcpServers: {paddock: url ? {url: url.href, headers: bearer(token)} : command}});
	const session = await client.createSession('paddock');

	return {
		tools: (await session.listTools()).map((t) => t.name),
		call: async (name, input, options) => asIs(await session.callTool(name, input, options)),
		close: () => client.closeAllSessions(),
	};
}

// Its tools know no abort: that is its client's below them.
async function genkitMcp({url, token, ...command}) {
	const ai = genkit({});
	const client = genkitClient({name: 'peer', mcpServer: url ? {url: url.href, requestInit: {headers: bearer(token)}}
		: command});

	await client.ready();

	const tools = await client.getActiveTools(ai);
	const tool = Object.fromEntries(tools.map((t) => [t.__action.name.replace(/^.*\//, ''), t]));

	return {
		tools: Object.keys(tool),
		async call(name, input, {signal} = {}) {
			if (signal)
				return asIs(await client.mcpClient.callTool({name, arguments: input}, undefined, {signal}));

			const got = await tool[name](input);

			return got.content ? asIs(got) : {text: got.error, structured: got, links: [], refused: 'error' in got};
		},
		close: () => client.disable(),
	};
}

// A bridge is a program that the official client starts.
async function bridged(args, env) {
	const client = new Client({name: 'peer', version: '1.0.0'}, {capabilities: {}});

	await client.connect(new StdioClientTransport({command: process.execPath, args, env, stderr: 'ignore'}));
	return {
		tools: (await client.listTools()).tools.map((t) => t.name),
		call: async (name, input, options) => asIs(await client.callTool({name, arguments: input}, undefined, options)),
		close: () => client.close(),
	};
}

const program = (file) => `${process.env.PADDOCK_PEERS}/node_modules/${file}`;

const mcpRemote = ({url, token}) => bridged([program('mcp-remote/dist/proxy.js'), url.href, '--transport', 'http-only',
	'--header', `Authorization: Bearer ${token}`], {PATH: process.env.PATH, HOME: process.env.HOME});

const supergateway = ({url, token}) => bridged([program('supergateway/dist/index.js'), '--streamableHttp', url.href,
	'--header', `Authorization: Bearer ${token}`], {PATH: process.env.PATH, HOME: process.env.HOME});

export const frameworks = {
	'ai-sdk': {open: aiSdk, silent: true},
	langchain: {open: langchain},
	'openai-agents': {open: openai},
	mastra: {open: mastra},
	'mcp-use': {open: mcpUse},
	genkit: {open: genkitMcp},
	'mcp-remote': {open: mcpRemote},
	supergateway: {open: supergateway},
};
