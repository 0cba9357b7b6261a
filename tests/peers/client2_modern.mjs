// SPDX-License-Identifier: Apache-2.0
// client2_modern.mjs - the TypeScript client 2 where it speaks MCP 2026-07-28, as
// it finds out itself and as it is told to: calls, questions, lists that change.
import {addTemplate, client2Modern, serverPid, textOf} from './connect.mjs';
import {is, main, ok, rejection, signal, until, within} from './tap.mjs';

const LATEST = '2026-07-28';
const able = {elicitation: {}, sampling: {}, roots: {}};

// What the client answers to what it is asked, and what that was.
const answers = {
	'elicitation/create': () => ({action: 'accept', content: {confirm: true}}),
	'sampling/createMessage': () =>
		({model: 'peer-2', role: 'assistant', content: {type: 'text', text: 'short'}}),
	'roots/list': () => ({roots: [{uri: 'file:///a', name: 'a'}, {uri: 'file:///b'}]}),
};

function suite(name, mode) {
	const asked = [];
	const heard = [];
	let client;
	const call = (tool, args, options) => client.callTool({name: tool, arguments: args}, options);
	const view = async (tool, args, options) => JSON.parse(textOf(await call(tool, args, options)));

	async function connects() {
		client = await client2Modern(mode, {capabilities: able}, (c) => {
			for (const [method, answer] of Object.entries(answers))
				c.setRequestHandler(method, (request) => {
					asked.push(request.method);
					return answer(request);
				});
			for (const list of ['tools', 'prompts', 'resources'])
				c.setNotificationHandler(`notifications/${list}/list_changed`, () => void heard.push(list));
		});
		is(client.getProtocolEra(), 'modern', `${name}: the era`);
		is(client.getNegotiatedProtocolVersion(), LATEST, 'and the revision');
		is(client.getServerVersion()?.name, 'paddock', 'who serves');
	}

	async function calls() {
		ok((await client.listTools()).tools.some((t) => t.name === 'greet'), 'listTools');
		ok((await client.listResources()).resources.length > 0, 'listResources');
		is((await call('greet', {name: 'Ada'})).structuredContent, {greeting: 'Hello, Ada!'}, 'callTool');
		ok((await call('fail', {})).isError, 'a failed run');
		is((await rejection(call('no_such_tool', {}), 'an unknown tool is refused')).code, -32602, 'as invalid');

		const told = [];

		await call('count', {to: 2}, {onprogress: (p) => told.push(p.progress)});
		is(told, [1, 2], 'progress');
	}

	async function cancels() {
		const abort = new AbortController();
		const started = signal();
		const p = call('idle', {}, {signal: abort.signal, onprogress: started.fire});

		p.catch(() => {});
		await started.promise;
		abort.abort();
		await rejection(p, 'an aborted call is rejected');
		ok(await until('the run to be cancelled', async () => {
			const {structuredContent: list} = await call('list_task_runs', {status: 'running'});

			return list.runs.length === 0;
		}), 'and its run ends');
	}

	async function asks() {
		is(await view('confirm', {file: 'a.txt'}), {action: 'accept', confirmed: true}, 'a call asks the user');
		is(await view('summarise', {text: 'long'}), {summary: 'short', model: 'peer-2'}, 'and the model');
		is((await client.getPrompt({name: 'asking'})).messages[0].content.text, 'The user is sure: true',
			'a prompt asks, too');
		is(asked, ['elicitation/create', 'sampling/createMessage', 'elicitation/create'], 'each once');
	}

	// Changes of lists, and an end of that.
	async function listens() {
		const subscription = await client.listen({toolsListChanged: true});

		is(subscription.honoredFilter, {toolsListChanged: true}, 'listen is acknowledged');
		heard.length = 0;
		addTemplate('greet', `greet_${name}`);
		process.kill(serverPid(client), 'SIGHUP');
		await until('the notification', () => heard.includes('tools'));
		is(heard.filter((h) => h !== 'tools'), [], 'it is told what it asked for, and no more');
		ok((await client.listTools()).tools.some((t) => t.name === `greet_${name}`), 'the tool is there');
		await subscription.close();
		is(await within(subscription.closed, 'its end'), 'local', 'it ends');
	}

	async function ends() {
		await client.close();
		is(client.errors, [], 'the client met no error that it was not told of');
	}

	return [connects, calls, cancels, asks, listens, ends];
}

await main(...suite('auto', 'auto'), ...suite('pinned', {pin: LATEST}));
