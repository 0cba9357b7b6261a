// SPDX-License-Identifier: Apache-2.0
// client2.mjs - the TypeScript client 2, alone and under ext-tasks: what it
// does of itself, and that it takes every answer.
import {createTaskSessionFromClient, resultFromTaskOutcome, toolDeclarationFromMcpTool}
	from '@modelcontextprotocol/ext-tasks/client';
import {client2, http, textOf} from './connect.mjs';
import {is, main, ok, rejection, signal, until} from './tap.mjs';

let client;

const call = (name, args, options) => client.callTool({name, arguments: args}, options);

async function tools() {
	client = await client2({capabilities: {elicitation: {}, sampling: {}}});
	is(client.getServerVersion().name, 'paddock', 'initialize');

	const {tools: all} = await client.listTools();

	ok(all.some((t) => t.name === 'greet'), 'listTools');
	is((await call('greet', {name: 'Ada'})).structuredContent, {greeting: 'Hello, Ada!'}, 'callTool');
	ok((await call('fail', {})).isError, 'a failed run');
	await rejection(call('no_such_tool', {}), 'an unknown tool is refused');
	ok((await client.listResources()).resources.length > 0, 'listResources');
}

async function progress() {
	const heard = [];

	await call('count', {to: 2}, {onprogress: (p) => heard.push(p.progress)});
	is(heard, [1, 2], 'callTool with progress');
}

async function aborting() {
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

let session;
const asked = []; // by the server, in order

async function immediate() {
	const {tools: all} = await client.listTools();

	session = createTaskSessionFromClient(client, {
		endpointId: 'peer',
		onInputRequest: (request, context) => {
			asked.push({kind: request.kind, params: request.params, taskId: context.taskId});
			return request.kind === 'elicitation' ? {action: 'accept', content: {confirm: true}}
				: {model: 'peer-2', role: 'assistant', content: {type: 'text', text: 'short'}};
		},
		tools: {currentTool: (name) => {
			const tool = all.find((t) => t.name === name);

			return tool && toolDeclarationFromMcpTool(tool);
		}},
	});

	const execution = await session.callTool('greet', {name: 'Bo'}, {task: {preference: 'forbid'}});
	const {outcome} = await execution.settle();

	is(execution.kind, 'immediate', 'ext-tasks: a call without a task');
	is(resultFromTaskOutcome(outcome).structuredContent, {greeting: 'Hello, Bo!'}, 'and its result');
}

const made = (name, args) => session.callTool(name, args, {task: {preference: 'require', retentionMs: 60000}});

async function task() {
	const execution = await made('count', {to: 3});
	const {taskId} = execution.handle;
	const {outcome, lastTask} = await execution.settle();

	is(execution.kind, 'task', 'ext-tasks: a call as a task');
	is(JSON.parse(textOf(resultFromTaskOutcome(outcome))), {counted: 3}, 'and its result');
	is([lastTask.status, lastTask.retentionMs], ['completed', 60000], 'and its last status');
	if (!http)
		ok((await session.listTasks()).tasks.some((t) => t.taskId === taskId), 'listTasks');

	const {outcome: failed} = await (await made('fail', {})).settle();

	is(failed.status, 'failed', 'a failed task');
	ok(/not to be|NO_LUCK/.test(failed.error.message), 'says why', failed.error.message);
}

async function input() {
	const execution = await made('confirm', {file: 'a.txt'});
	const {outcome} = await execution.settle();

	is(JSON.parse(textOf(resultFromTaskOutcome(outcome))), {action: 'accept', confirmed: true},
		'a task asks the user');
	is([asked[0].kind, asked[0].params.message, asked[0].taskId],
		['elicitation', 'Delete a.txt?', execution.handle.taskId], 'once it is known to the client');

	const {outcome: sampled} = await (await made('summarise', {text: 'long'})).settle();

	is(JSON.parse(textOf(resultFromTaskOutcome(sampled))), {summary: 'short', model: 'peer-2'},
		'a task asks the model');

	const plain = await (await session.callTool('confirm', {file: 'b.txt'}, {task: {preference: 'forbid'}})).settle();

	is(JSON.parse(textOf(resultFromTaskOutcome(plain.outcome))).confirmed, true, 'so does a call');
	is(asked.map((a) => a.kind), ['elicitation', 'sampling', 'elicitation'], 'each once');
}

async function cancelling() {
	const execution = await made('idle', {});
	const settled = execution.settle();

	await execution.cancel();
	is((await settled).outcome.status, 'cancelled', 'a cancelled task');
	await session.close();
}

async function end() {
	await client.close();
	// it asks for the status until the result is there: an answer that crosses
	// its cancelling of that is its own affair
	const told = client.errors.filter((e) =>
		!/unknown message ID: .*"result":\{"taskId"/.test(e.message));

	is(told, [], 'the client met no error that it was not told of');
}

await main(tools, progress, aborting, immediate, task, input, cancelling, end);
