// SPDX-License-Identifier: Apache-2.0
// sdk_input.mjs - the TypeScript SDK 1: questions to the user and the model, in
// a call, in a task, and as tasks of the client's own.
import {InMemoryTaskMessageQueue, InMemoryTaskStore}
	from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import {CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema}
	from '@modelcontextprotocol/sdk/types.js';
import {client1, textOf} from './connect.mjs';
import {is, main, ok, rejection, signal, within} from './tap.mjs';

const RELATED = 'io.modelcontextprotocol/related-task';
const able = {capabilities: {elicitation: {}, sampling: {}}};
const said = {action: 'accept', content: {confirm: true}};
let client, answer, asked;

const reply = (request) => ({
	model: 'peer-1', role: 'assistant',
	content: {type: 'text', text: `short: ${request.params.messages[0].content.text}`},
});

async function begin() {
	client = await client1(able, (c) => {
		c.setRequestHandler(ElicitRequestSchema, (request, extra) => {
			asked = request.params;
			return answer(request, extra);
		});
		c.setRequestHandler(CreateMessageRequestSchema, (request) => {
			asked = request.params;
			return reply(request);
		});
	});
	await client.listTools();
}

const view = (result) => JSON.parse(textOf(result));
const call = async (name, args, options) =>
	view(await client.callTool({name, arguments: args}, CallToolResultSchema, options));

async function plain() {
	answer = () => said;
	is(await call('confirm', {file: 'a.txt'}), {action: 'accept', confirmed: true}, 'a call asks the user');
	is(asked.message, 'Delete a.txt?', 'with its message');
	is(asked.requestedSchema.properties.confirm.type, 'boolean', 'and its schema');
	ok(!asked._meta?.[RELATED], 'of no task');
	answer = () => ({action: 'decline'});
	is(await call('confirm', {file: 'a.txt'}), {action: 'decline', confirmed: false}, 'the user may decline');
	is(await call('summarise', {text: 'long'}), {summary: 'short: long', model: 'peer-1'}, 'a call asks the model');
	is(asked.maxTokens, 50, 'with its limit');
}

async function task(name, args) {
	const all = [];

	for await (const m of client.experimental.tasks.callToolStream({name, arguments: args}, CallToolResultSchema,
		{task: {ttl: 60000}}))
		all.push(m);
	return all;
}

async function inTask() {
	answer = () => said;

	let all = await task('confirm', {file: 'b.txt'});

	is(all.at(-1).type, 'result', 'a task asks the user');
	is(view(all.at(-1).result), {action: 'accept', confirmed: true}, 'and has the answer');
	is(asked._meta?.[RELATED], {taskId: all[0].task.taskId}, 'the question names the task');
	all = await task('summarise', {text: 'far too long'});
	is(view(all.at(-1).result).summary, 'short: far too long', 'a task asks the model');
	is(asked._meta?.[RELATED], {taskId: all[0].task.taskId}, 'the question names the task');
}

async function inputRequired() {
	const seen = signal();

	answer = async (request) => {
		const {taskId} = request.params._meta[RELATED];

		seen.fire((await client.experimental.tasks.getTask(taskId)).status);
		return said;
	};
	await task('confirm', {file: 'c.txt'});
	is(await within(seen.promise, 'the status'), 'input_required', 'meanwhile the task is input_required');
}

async function aborting() {
	const abort = new AbortController();
	const heard = signal();

	answer = (request, extra) => new Promise((resolve) => {
		extra.signal.addEventListener('abort', () => {
			heard.fire(true);
			resolve(said);
		});
		abort.abort();
	});

	const p = client.callTool({name: 'confirm', arguments: {file: 'd.txt'}}, CallToolResultSchema,
		{signal: abort.signal});

	await rejection(p, 'a call may be aborted while it asks');
	ok(await within(heard.promise, 'the question to be cancelled'), 'its question is taken back');
}

async function unable() {
	const other = await client1();
	const result = await other.callTool({name: 'confirm', arguments: {file: 'e.txt'}});

	ok(result.isError && /elicitation/.test(textOf(result)), 'a client that cannot be asked is not', result);
	await other.close();
}

// The client answers by a task of its own, which ends a little later.
function later(extra, ttl, make) {
	return extra.taskStore.createTask({ttl, pollInterval: 20}).then((made) => {
		setTimeout(() => void extra.taskStore.storeTaskResult(made.taskId, 'completed', make()), 60);
		return {task: made};
	});
}

async function receiver() {
	const store = new InMemoryTaskStore();
	let augmented = 0;
	const other = await client1({
		capabilities: {
			...able.capabilities,
			tasks: {requests: {elicitation: {create: {}}, sampling: {createMessage: {}}}},
		},
		taskStore: store,
		taskMessageQueue: new InMemoryTaskMessageQueue(),
	}, (c) => {
		c.setRequestHandler(ElicitRequestSchema, (request, extra) => {
			augmented += request.params.task ? 1 : 0;
			return request.params.task ? later(extra, request.params.task.ttl, () => said) : said;
		});
		c.setRequestHandler(CreateMessageRequestSchema, (request, extra) => {
			augmented += request.params.task ? 1 : 0;
			return request.params.task ? later(extra, request.params.task.ttl, () => reply(request)) : reply(request);
		});
	});
	const ask = async (name, args) => view(await other.callTool({name, arguments: args}));

	is(await ask('confirm', {file: 'f.txt'}), {action: 'accept', confirmed: true},
		'a client that serves tasks has the question as a task');
	is((await ask('summarise', {text: 'x'})).summary, 'short: x', 'so has its model');
	is(augmented, 2, 'both were tasks');
	store.cleanup();
	await other.close();
}

async function end() {
	await client.close();
	is(client.errors, [], 'the client met no error that it was not told of');
}

await main(begin, plain, inTask, inputRequired, aborting, unable, receiver, end);
