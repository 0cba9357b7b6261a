// SPDX-License-Identifier: Apache-2.0
// sdk_tasks.mjs - the TypeScript SDK 1: tools called as tasks.
import {CallToolResultSchema, CreateTaskResultSchema, TaskStatusNotificationSchema}
	from '@modelcontextprotocol/sdk/types.js';
import {client1, http, textOf} from './connect.mjs';
import {is, main, ok, rejection, rises, signal, until, within} from './tap.mjs';

const RELATED = 'io.modelcontextprotocol/related-task';
let client, tasks;
const told = []; // by notifications/tasks/status

async function begin() {
	client = await client1({}, (c) => c.setNotificationHandler(TaskStatusNotificationSchema,
		(n) => void told.push(n.params)));
	tasks = client.experimental.tasks;

	const declared = client.getServerCapabilities().tasks;

	ok(declared?.requests?.tools?.call && declared.cancel, 'tasks are declared', declared);

	const {tools} = await client.listTools();

	is(tools.find((t) => t.name === 'count').execution?.taskSupport, 'optional', 'a template may be a task');
}

// A task for a call of NAME, made and left alone.
async function make(name, args) {
	const {task} = await client.request({method: 'tools/call', params: {name, arguments: args}},
		CreateTaskResultSchema, {task: {ttl: 60000}});

	return task.taskId;
}

async function drain(stream) {
	const all = [];

	for await (const message of stream)
		all.push(message);
	return all;
}

const status = async (id) => (await tasks.getTask(id)).status;
const idleNow = (id) => until('the task to run', async () => (await tasks.getTask(id)).statusMessage === 'idle');

async function stream() {
	const progress = [];
	const all = await drain(tasks.callToolStream({name: 'count', arguments: {to: 3}}, CallToolResultSchema,
		{task: {ttl: 60000}, onprogress: (p) => progress.push(p.progress)}));
	const last = all.at(-1);

	is(all[0].type, 'taskCreated', 'callToolStream: a task is made');
	is(all[0].task.status, 'working', 'it works');
	is(all[0].task.ttl, 60000, 'for as long as was asked');
	ok(all.slice(1, -1).every((m) => m.type === 'taskStatus'), 'then its status', all);
	is(last.type, 'result', 'then its result');
	is(JSON.parse(textOf(last.result)), {counted: 3}, 'that of the call');
	is(last.result._meta?.[RELATED], {taskId: all[0].task.taskId}, 'which names the task');
	rises(progress, 3, 'progress is told by the token of the call, all the way');

	const id = all[0].task.taskId;

	is(await status(id), 'completed', 'getTask');
	is(textOf(await tasks.getTaskResult(id, CallToolResultSchema)), textOf(last.result),
		'getTaskResult: the same once more');
	if (!http)
		ok((await tasks.listTasks()).tasks.some((t) => t.taskId === id), 'listTasks');
	ok(await until('its notification', () => told.some((t) => t.taskId === id && t.status === 'completed')),
		'the end was told unasked');
}

async function failure() {
	const all = await drain(tasks.callToolStream({name: 'fail', arguments: {}}, CallToolResultSchema,
		{task: {ttl: 60000}}));
	const {taskId} = all[0].task;
	const view = await tasks.getTask(taskId);

	is(all.at(-1).type, 'error', 'a failed task is an error of the stream');
	is(view.status, 'failed', 'its status says so');
	ok(view.statusMessage?.includes('it was not to be'), 'and why', view);

	const result = await tasks.getTaskResult(taskId, CallToolResultSchema);

	ok(result.isError && textOf(result).includes('NO_LUCK'), 'its result is that of the call', result);
}

async function cancelling() {
	const id = await make('idle', {});

	await idleNow(id);
	is((await tasks.cancelTask(id)).status, 'cancelled', 'cancelTask');
	is(await status(id), 'cancelled', 'getTask says so, too');
	is((await rejection(tasks.cancelTask(id), 'it is cancelled once')).code, -32602, 'by invalid params');
	is((await rejection(tasks.getTaskResult(id, CallToolResultSchema), 'it has no result')).code, -32603,
		'by an internal error');
}

async function waiting() {
	const id = await make('idle', {});
	const abort = new AbortController();

	await idleNow(id);

	const given = tasks.getTaskResult(id, CallToolResultSchema, {signal: abort.signal});
	const kept = tasks.getTaskResult(id, CallToolResultSchema);

	given.catch(() => {});
	kept.catch(() => {});
	abort.abort();
	await rejection(given, 'who waits for a result may give up');
	is(await status(id), 'working', 'which is not the end of the task');
	await tasks.cancelTask(id);
	is((await rejection(within(kept, 'the other wait'), 'cancelling wakes who still waits')).code, -32603, 'at once');
}

async function unknown() {
	const id = 'task_' + 'a'.repeat(26);

	is((await rejection(tasks.getTask(id), 'getTask of an unknown task')).code, -32602, 'is invalid');
	is((await rejection(tasks.cancelTask(id), 'cancelTask, too')).code, -32602, 'is invalid');
	is((await rejection(tasks.getTaskResult(id, CallToolResultSchema), 'getTaskResult, too')).code, -32602,
		'is invalid');
}

async function another() {
	const id = await make('count', {to: 2});
	const other = await client1();

	is(textOf(await other.experimental.tasks.getTaskResult(id, CallToolResultSchema)), '{"counted":2}',
		'another session of the same user has the result, too');
	await other.close();
}

async function end() {
	await client.close();
	is(client.errors, [], 'the client met no error that it was not told of');
}

await main(begin, stream, failure, cancelling, waiting, unknown, ...(http ? [another] : []), end);
