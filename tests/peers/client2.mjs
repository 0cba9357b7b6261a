// client2.mjs - the TypeScript client 2, alone and under ext-tasks: what it
// does of itself, and that it takes every answer.
import {createTaskSessionFromClient, resultFromTaskOutcome} from '@modelcontextprotocol/ext-tasks/client';
import {client2, textOf} from './connect.mjs';
import {is, main, ok, rejection, signal, until} from './tap.mjs';

let client;

const call = (name, args, options) => client.callTool({name, arguments: args}, options);

async function tools() {
	client = await client2();
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

async function session() {
	const {tools: all} = await client.listTools();
	const tasks = createTaskSessionFromClient(client, {
		endpointId: 'peer',
		tools: {currentTool: (name) => all.find((t) => t.name === name)},
	});
	const execution = await tasks.callTool('greet', {name: 'Bo'}, {task: {preference: 'forbid'}});
	const {outcome} = await execution.settle();

	is(execution.kind, 'immediate', 'ext-tasks: a call without a task');
	is(resultFromTaskOutcome(outcome).structuredContent, {greeting: 'Hello, Bo!'}, 'and its result');
	await tasks.close();
}

async function end() {
	await client.close();
	is(client.errors, [], 'the client met no error that it was not told of');
}

await main(tools, progress, aborting, session, end);
