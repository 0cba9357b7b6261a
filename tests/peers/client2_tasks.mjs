// SPDX-License-Identifier: Apache-2.0
// client2_tasks.mjs - ext-tasks on the TypeScript client 2 where that speaks MCP
// 2026-07-28: calls that become tasks, their questions, ends and news.
import {createTaskSessionFromClient, resultFromTaskOutcome} from '@modelcontextprotocol/ext-tasks/client';
import {hasTaskServerCapabilityV2, isCreateTaskResultV2, isTaskStatusNotificationV2, readAcceptedTaskIdsV2, withTaskCapabilityV2}
	from '@modelcontextprotocol/ext-tasks/core/v2';
import {client2Modern, textOf} from './connect.mjs';
import {rawDispatch} from './raw.mjs';
import {is, main, ok, rejection, signal, within} from './tap.mjs';

const LATEST = '2026-07-28';
const info = {name: 'peer', version: '1.0.0'};
const able = {elicitation: {}, sampling: {}};

function suite(name, mode) {
	let client, session, raw;
	const inputs = [];
	const envelope = {
		'io.modelcontextprotocol/protocolVersion': LATEST,
		'io.modelcontextprotocol/clientInfo': info,
		'io.modelcontextprotocol/clientCapabilities': able,
	};

	async function tasks() {
		client = await client2Modern(mode, {capabilities: able});
		raw = rawDispatch(client);
		ok(hasTaskServerCapabilityV2(client.getServerCapabilities()), `${name}: the Tasks extension is declared`,
			client.getServerCapabilities());
		session = createTaskSessionFromClient(client, {
			endpointId: 'peer', rawDispatch: raw,
			v2RequestFraming: {protocolVersion: LATEST, clientInfo: info, clientCapabilities: able},
			onInputRequest: (request, context) => {
				inputs.push({kind: request.kind, taskId: context.taskId});
				return {action: 'accept', content: {confirm: true}};
			},
		});

		const quick = await session.callTool('greet', {name: 'Bo'});

		is(quick.kind, 'immediate', 'what is quick is no task');
		is(resultFromTaskOutcome((await quick.settle()).outcome).structuredContent, {greeting: 'Hello, Bo!'},
			'and has its result');

		const slow = await session.callTool('slow', {ms: 2500});
		const {outcome, lastTask} = await slow.settle();

		is(slow.kind, 'task', 'what is slow is one');
		is(JSON.parse(textOf(resultFromTaskOutcome(outcome))), {slept: 2500}, 'and has its result');
		is(lastTask.status, 'completed', 'and its last status');

		const {outcome: failed} = await (await session.callTool('slow', {ms: 2500, fail: true})).settle();

		is(failed.status, 'completed', 'a task whose run failed is completed');
		ok(resultFromTaskOutcome(failed).isError, 'with a result that says so');
	}

	async function updates() {
		const execution = await session.callTool('confirm_task', {file: 'a.txt'});
		const {outcome} = await execution.settle();

		is(execution.kind, 'task', 'a task asks the user');
		is(JSON.parse(textOf(resultFromTaskOutcome(outcome))), {action: 'accept', confirmed: true}, 'and has the answer');
		is(inputs, [{kind: 'elicitation', taskId: execution.handle.taskId}], 'once');
		inputs.length = 0;

		const early = await session.callTool('confirm', {file: 'b.txt'});

		is(JSON.parse(textOf(resultFromTaskOutcome((await early.settle()).outcome))).confirmed, true,
			'what asks at once asks its call');
		is(inputs.map((i) => i.taskId), [undefined], 'of no task');
	}

	async function cancels() {
		const execution = await session.callTool('idle', {});
		const settled = execution.settle();

		is(execution.kind, 'task', 'a task that does not end');
		await execution.cancel();
		is((await within(settled, 'its end')).outcome.status, 'cancelled', 'is cancelled');
	}

	// The status of a task, unasked.
	async function hears() {
		const ask = (method, params, options) =>
			raw({method, params: withTaskCapabilityV2({...params, _meta: envelope})}, options);
		const {result: made} = await ask('tools/call', {name: 'slow', arguments: {ms: 2500}});
		const told = [];
		const over = signal();

		ok(isCreateTaskResultV2(made), 'a task is made', made);

		const stop = new AbortController();
		const listening = ask('subscriptions/listen', {notifications: {taskIds: [made.taskId]}}, {
			signal: stop.signal,
			onMessage: (m) => {
				told.push(m);
				if (m.params?.status === 'completed')
					over.fire();
			},
		});

		listening.catch(() => {});
		await within(over.promise, 'the end of the task, unasked');
		is(told[0].method, 'notifications/subscriptions/acknowledged', 'who listens to a task is told so');
		is(readAcceptedTaskIdsV2(told[0].params), [made.taskId], 'and to which');
		ok(told.slice(1).every((m) => isTaskStatusNotificationV2(m)), 'then its status', told);
		is(JSON.parse(textOf(told.at(-1).params.result)), {slept: 2500}, 'and at last its result');
		stop.abort();
		await rejection(listening, 'until it listens no more');
	}

	async function ends() {
		await session.close();
		await client.close();
		is(client.errors, [], 'the client met no error that it was not told of');
	}

	return [tasks, updates, cancels, hears, ends];
}

await main(...suite('auto', 'auto'), ...suite('pinned', {pin: LATEST}));
