// SPDX-License-Identifier: Apache-2.0
// raw.mjs - requests of MCP 2026-07-28 beside those of a client 2, which refuses
// tasks itself: what hosts hand to ext-tasks as rawDispatch.
import {url} from './connect.mjs';

const NAMED = {'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri',
	'tasks/get': 'taskId', 'tasks/update': 'taskId', 'tasks/cancel': 'taskId'};
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
let last = 0;

const made = (request) => ({jsonrpc: '2.0', id: `raw-${++last}`, ...request});
const outcome = ({result, error}) => (error ? {kind: 'error', error} : {kind: 'result', result});

async function* events(body) {
	let text = '';

	for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
		const blocks = (text + chunk).split('\n\n');

		text = blocks.pop();
		for (const block of blocks) {
			const data = block.split('\n').filter((l) => l.startsWith('data:')).map((l) => l.slice(5));

			if (data.length > 0)
				yield JSON.parse(data.join('\n'));
		}
	}
}

async function overHttp(request, {signal, onMessage} = {}) {
	const message = made(request);
	const name = message.params?.[NAMED[message.method]];
	const answer = await fetch(url, {
		method: 'POST', signal, body: JSON.stringify(message),
		headers: {
			'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream',
			'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': message.method,
			...(name === undefined ? {} : {'Mcp-Name': name}),
		},
	});

	if (!answer.headers.get('content-type').startsWith('text/event-stream'))
		return outcome(await answer.json());
	for await (const m of events(answer.body)) {
		if (m.id === message.id)
			return outcome(m);
		onMessage?.(m);
	}
	throw new Error(`${message.method}: the stream ended without an answer`);
}

// The answers to ours never reach CLIENT, which does not know their ids; nor does
// what a subscription of ours is told.
function overLines(client) {
	const waiting = new Map();
	const theirs = client.transport.onmessage;

	client.transport.onmessage = (m, ...more) => {
		const ours = waiting.get(m.id ?? m.params?._meta?.[SUBSCRIPTION] ?? m.params?.requestId);

		return ours ? ours(m) : theirs(m, ...more);
	};
	return async (request, {signal, onMessage} = {}) => {
		const message = made(request);

		try {
			return await new Promise((resolve, reject) => {
				waiting.set(message.id, (m) => (m.id ? resolve(outcome(m)) : onMessage?.(m)));
				signal?.addEventListener('abort', () => reject(signal.reason));
				client.transport.send(message).catch(reject);
			});
		} finally {
			if (!signal?.aborted) // else what is under way to us has still to be kept from it
				waiting.delete(message.id);
		}
	};
}

export const rawDispatch = (client) => (url ? overHttp : overLines(client));
