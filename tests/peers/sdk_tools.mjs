// SPDX-License-Identifier: Apache-2.0
// sdk_tools.mjs - the TypeScript SDK 1: tools, progress, errors, cancelling,
// resources, lists that change.
import {CallToolResultSchema} from '@modelcontextprotocol/sdk/types.js';
import {addTemplate, client1, serverPid, textOf} from './connect.mjs';
import {is, main, ok, rejection, rises, signal, until, within} from './tap.mjs';

const CONTRACT = ['list_task_templates', 'run_task_template', 'get_task_run', 'list_task_runs',
	'cancel_task_run', 'get_artifact', 'get_runtime_profile', 'retry_task_run',
	'search_task_templates'];
let client;

const call = (name, args, options) =>
	client.callTool({name, arguments: args}, CallToolResultSchema, options);

async function initialize() {
	client = await client1();
	is(client.getServerVersion().name, 'paddock', 'initialize: the server says its name');
	ok(client.getServerCapabilities().tools?.listChanged, 'and that its tools may change');
	ok(client.getInstructions().length > 0, 'and how to use it');
	is(await client.ping(), {}, 'ping');
}

async function tools() {
	const {tools: all} = await client.listTools();
	const names = all.map((t) => t.name);

	is(CONTRACT.filter((n) => !names.includes(n)), [], 'listTools: the tools of the contract');
	ok(['greet', 'count', 'idle'].every((n) => names.includes(n)), 'and the templates', names);

	is((await call('greet', {name: 'Ada'})).structuredContent, {greeting: 'Hello, Ada!'},
		'callTool: a result that fits its outputSchema');

	const failed = await call('fail', {});

	ok(failed.isError && textOf(failed).includes('NO_LUCK'), 'a failed run is an error of the tool', failed);

	const wrong = await call('greet', {name: 7});

	ok(wrong.isError && textOf(wrong).includes('/name'), 'so are inputs that do not fit', wrong);

	const e = await rejection(call('no_such_tool', {}), 'an unknown tool is refused');

	is(e.code, -32602, 'by invalid params');
}

async function contract() {
	const {structuredContent: list} = await call('list_task_templates', {});

	ok(list.templates.some((t) => t.templateId === 'count'), 'list_task_templates', list);

	const {structuredContent: run} = await call('run_task_template',
		{templateId: 'greet', inputs: {name: 'Bo'}, options: {mode: 'sync'}});

	is(run.status, 'succeeded', 'run_task_template fits its outputSchema');
	is((await call('get_task_run', {runId: run.runId})).structuredContent.status, 'succeeded', 'get_task_run');
	is((await call('retry_task_run', {runId: run.runId})).structuredContent.retriedFrom, run.runId, 'retry_task_run');
	ok((await call('get_runtime_profile', {})).structuredContent, 'get_runtime_profile');

	const unknown = await call('get_task_run', {runId: `run_${'a'.repeat(26)}`});

	ok(unknown.isError && textOf(unknown).includes('RUN_NOT_FOUND'), 'a refusal passes the schemas, too', unknown);
}

async function progress() {
	const heard = [];
	const result = await call('count', {to: 3}, {onprogress: (p) => heard.push(p)});

	is(result.structuredContent ?? JSON.parse(textOf(result)), {counted: 3}, 'callTool with progress');
	rises(heard.map((p) => p.progress), 3, 'it is heard to its end, rising');
	ok(heard.every((p) => p.total === 3 && p.message === `at ${p.progress}`), 'with total and message', heard);
}

async function running() {
	const {structuredContent: list} = await call('list_task_runs', {status: 'running'});

	return list.runs ?? [];
}

async function aborting() {
	const abort = new AbortController();
	const started = signal();
	const p = call('idle', {}, {signal: abort.signal, onprogress: started.fire});

	p.catch(() => {});
	await started.promise;
	is((await running()).length, 1, 'a call that waits is a run that runs');
	abort.abort('enough');
	await rejection(p, 'an aborted call is rejected');
	ok(await until('the run to be cancelled', async () => !(await running()).length), 'and its run ends');
	is((await call('greet', {name: 'Eve'})).structuredContent.greeting, 'Hello, Eve!', 'the session goes on');
}

async function resources() {
	const {resources: all} = await client.listResources();

	ok(all.length > 0, 'listResources', all);

	const {contents} = await client.readResource({uri: all[0].uri});

	is(contents[0].uri, all[0].uri, 'readResource');
	await rejection(client.readResource({uri: 'paddock://nothing'}), 'what is not there is refused');
}

async function changes() {
	const changed = signal();
	const other = await client1({listChanged: {tools: {onChanged: (e, list) => changed.fire({e, list})}}});

	addTemplate('greet', 'greet_again');
	process.kill(serverPid(other), 'SIGHUP');

	const {e, list} = await within(changed.promise, 'tools/list_changed');

	ok(!e && list.some((t) => t.name === 'greet_again'), 'after a reload the client lists a new tool', e);
	is((await other.callTool({name: 'greet_again', arguments: {name: 'Al'}})).structuredContent.greeting,
		'Hello, Al!', 'and calls it');
	await other.close();
}

async function end() {
	await client.close();
	is(client.errors, [], 'the client met no error that it was not told of');
}

await main(initialize, tools, contract, progress, aborting, resources, changes, end);
