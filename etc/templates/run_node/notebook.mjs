// SPDX-License-Identifier: Apache-2.0
// A notebook of JavaScript: cells that come one after the other, and share a process, the
// head, which runs head.cjs. main.mjs loads this for a resident alone.
//
// Here is what outlives the head. Node.js cannot fork: a cell is interrupted, and its
// variables stay as they are then; a head that does not end the cell is killed, and all
// variables with it. What the head says of a cell is a claim.
import {spawn} from 'node:child_process';
import {closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, unlinkSync, writeFileSync} from 'node:fs';
import {Socket} from 'node:net';
import {constants} from 'node:os';
import {join} from 'node:path';

const GRACE = 2000; // milliseconds from the interrupt to the kill, on a busy machine as well
const AGAIN = 50; // milliseconds from an interrupt to the next: code may begin to run between them
const CLAIMED = 1 << 20; // bytes of what the head says at once, at most
const TEXT = 65536 + 256; // bytes of a text of it
const LINES = 100; // of a traceback
const ROUNDS = 1000; // of the search for processes, at most
const READ = 4; // the descriptor of orders and answers

let tools; // of main.mjs
let head;
let cell; // under way
let lost; // why the variables of earlier cells are lost, until that is told
const folder = process.cwd();

// ---- descriptor 4 ----

const lines = [];
let parts = []; // of a line that has no end yet

const feed = (data) => {
	for (let end; (end = data.indexOf(10)) >= 0; data = data.subarray(end + 1)) {
		lines.push(JSON.parse(Buffer.concat([...parts, data.subarray(0, end)]).toString()));
		parts = [];
	}
	parts.push(data);
};

const readNow = () => {
	const data = Buffer.alloc(65536);

	try {
		const n = readSync(READ, data);
		feed(data.subarray(0, n));
		return n > 0;
	} catch (error) {
		if (error.code !== 'EAGAIN')
			return false;
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
		return true;
	}
};

// The answer with the id ID, while all else waits.
const answerTo = (id) => {
	for (;;) {
		const at = lines.findIndex((line) => line.id === id);
		if (at >= 0)
			return lines.splice(at, 1)[0];
		if (!readNow())
			return {ok: false};
	}
};

// ---- processes ----

const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);

// [parent, session] of each process that lives, by id.
const processes = () => {
	const all = new Map();

	for (const pid of pids())
		try {
			const found = /\) (\S) (\d+) \d+ (\d+)[^]*$/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'));
			if (found && !/[ZX]/.test(found[1]))
				all.set(pid, [Number(found[2]), Number(found[3])]);
		} catch { // it has ended
		}
	return all;
};

// What cells have left: of the head's session, or with the head above it.
const rest = () => {
	const isKnown = (pid) => pid === head.pid || pid === process.pid;
	if (pids().every(isKnown))
		return [];
	const all = processes();
	const isBelow = (pid) => {
		for (let at = pid; all.has(at); at = all.get(at)[0])
			if (at === head.pid || all.get(at)[1] === head.pid)
				return true;
		return false;
	};

	return [...all.keys()].filter((pid) => !isKnown(pid) && isBelow(pid));
};

const kill = (pid, signal) => {
	try {
		process.kill(pid, signal);
	} catch { // it has ended
	}
};

// What forks while it is looked for is stopped first. The number of those ended.
const endRest = () => {
	const stopped = new Set();

	for (let round = 0; round < ROUNDS; round++) {
		const more = rest().filter((pid) => !stopped.has(pid));

		if (more.length === 0)
			break;
		for (const pid of more) {
			kill(pid, 'SIGSTOP');
			stopped.add(pid);
		}
	}
	for (const pid of stopped)
		kill(pid, 'SIGKILL');
	return stopped.size;
};

// ---- the head ----

const startHead = () => {
	const child = spawn(process.execPath, [...tools.first, join(process.env.PADDOCK_TEMPLATE_DIR, 'head.cjs')],
		{cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe']});

	head = child;
	for (const name of ['stdout', 'stderr'])
		child[name].on('data', (data) => onPrinted(name, data));
	listen(child);
	child.on('error', () => onHeadEnd(child, 1, null));
	child.on('exit', (code, signal) => onHeadEnd(child, code, signal));
};

const listen = (child) => {
	const channel = child.stdio[3];
	let said = '';

	channel.setEncoding('utf8');
	channel.on('error', () => {}); // it may end at any time
	channel.on('data', (data) => {
		said += data;
		for (let end; (end = said.indexOf('\n')) >= 0;) {
			onClaim(child, said.slice(0, end));
			said = said.slice(end + 1);
		}
		if (said.length > CLAIMED)
			said = '';
	});
};

const textOf = (text, most = TEXT) => typeof text === 'string' ? text.slice(0, most) : undefined;

const errorOf = (error) => error && {
	name: textOf(error.name) ?? 'Error',
	value: textOf(error.value) ?? '',
	traceback: Array.isArray(error.traceback) ? error.traceback.slice(0, LINES).map((line) => textOf(line) ?? '') : [],
};

const onClaim = (child, text) => {
	let claim;

	try {
		claim = JSON.parse(text);
	} catch { // none of ours
	}
	if (!cell || cell.over || child !== head)
		return;
	if (claim?.begun === cell.run.id)
		onBegun();
	if (claim?.exiting)
		endSoon('process.exit() was called while other work was under way', GRACE);
	const done = claim?.done;
	if (done?.id !== cell.run.id)
		return;
	cell.claim = {value: textOf(done.value), error: errorOf(done.error)};
	end(Number.isInteger(done.exitCode) ? done.exitCode & 255 : 0);
};

const onHeadEnd = (child, code, signal) => {
	if (child !== head)
		return;
	const why = signal ? `ended by ${signal}` : `ended with exit code ${code}`;

	head = undefined;
	endRestOf(child);
	if (!cell || cell.over) {
		lost ??= `the process of the notebook was ${why} between two cells`;
		return;
	}
	cell.signal = signal;
	cell.lost = cell.killed ?? `the process was ${why}`;
	end(code ?? 128 + constants.signals[signal]);
};

const endRestOf = (child) => {
	head = child;
	endRest();
	head = undefined;
};

// ---- output ----

const log = () => {
	for (const one of Object.values(cell.said))
		one.log();
	cell.logging = undefined;
	cell.logs = true;
};

const onPrinted = (name, data) => {
	if (!cell)
		return; // nobody would be told
	cell.heard = true;
	cell.said[name].add(data);
	if (!cell.over)
		cell.logging ??= setTimeout(log, cell.logs ? 100 : 20);
};

// Calls DONE when all that was written before now is read: two turns of the loop without any.
const drain = (done, quiet = 0) => {
	cell.heard = false;
	setImmediate(() => {
		if (quiet > 1)
			done();
		else
			drain(done, cell.heard ? 0 : quiet + 1);
	});
};

// ---- a cell ----

const inputFile = (text) => {
	const path = `.stdin.${process.pid}.${process.hrtime.bigint()}`;
	const fd = openSync(path, 'wx+', 0o600);

	unlinkSync(path);
	writeFileSync(fd, text);
	return fd;
};

const endSoon = (why, grace) => {
	cell.killed ??= why;
	cell.killing ??= setTimeout(() => head && kill(head.pid, 'SIGKILL'), grace);
};

// Between cells and code Node.js changes what SIGINT does: then SIGINT would end the head.
const interruptHead = () => {
	if (head && cell.begun)
		kill(head.pid, 'SIGINT');
};

const onBegun = () => {
	cell.begun = true;
	if (cell.run.inputs.timeoutMs !== undefined)
		cell.timer ??= setTimeout(onLate, cell.run.inputs.timeoutMs);
	if (cell.why)
		interruptHead();
};

// A process that the code starts meanwhile would keep the cell from its end.
const interruptAll = () => {
	interruptHead();
	endRest();
};

// What runs is interrupted, and what waits; after the grace time the head is killed.
const interrupt = (why, grace) => {
	if (!head)
		return;
	cell.why = why;
	interruptAll();
	cell.again ??= setInterval(interruptAll, AGAIN);
	endSoon(why, grace);
};

const onLate = () => {
	cell.late = true;
	interrupt(`the code was ended after ${cell.run.inputs.timeoutMs} ms, which is its timeoutMs`, GRACE);
};

const onCancel = ({id, why, graceMs}) => {
	if (!cell || cell.over || cell.run.id !== id)
		return;
	cell.cancelled = why ?? 'cancel';
	const grace = (graceMs ?? GRACE) / 2;
	interrupt(`the code was ended (${cell.cancelled})`, why === 'memory' ? 0 : cell.begun ? Math.min(GRACE, grace) : grace);
};

const refuse = (run, why) => {
	const notebook = {name: run.notebook.name, cell: run.notebook.cell, state: 'kept', why};

	tools.say({state: {kept: false, why}});
	tools.say({failed: {id: run.id, code: 'EXECUTION_ERROR', message: why, details: {notebook}}});
};

const begin = (run) => {
	const {inputs} = run;

	if (inputs.code === undefined)
		return refuse(run, 'give code, which a cell of a notebook needs');
	let stdin;
	try {
		rmSync('result.json', {force: true, recursive: true});
		tools.place(inputs.files);
		stdin = inputs.stdin === undefined ? undefined : inputFile(inputs.stdin);
	} catch (error) {
		return refuse(run, `the cell was not run: ${error.message}`);
	}
	if (!head)
		startHead();
	cell = {run, stdin, isNew: run.notebook.cell === 1 || lost !== undefined, fresh: lost ?? run.notebook.lost,
		said: {stdout: new tools.Output('stdout'), stderr: new tools.Output('stderr')}};
	lost = undefined;
	head.stdio[3].write(JSON.stringify({id: run.id, code: inputs.code, name: `cell-${run.notebook.cell}.js`,
		args: inputs.args ?? [], stdin: stdin === undefined ? '/dev/null' : `/proc/${process.pid}/fd/${stdin}`}) + '\n');
};

const end = (exitCode) => {
	cell.over = true;
	for (const timer of [cell.timer, cell.logging, cell.killing, cell.again])
		clearTimeout(timer);
	if (cell.stdin !== undefined)
		closeSync(cell.stdin);
	cell.left = head ? endRest() : 0;
	drain(() => {
		if (cell.logs)
			log();
		answer(exitCode);
		cell = undefined;
		if (!head)
			startHead();
		next();
	});
};

// What has become of the variables.
const told = () => {
	const {name, cell: number} = cell.run.notebook;
	const why = [];

	if (cell.lost) {
		lost = `${cell.lost}, and a notebook of Node.js cannot go back`;
		return {name, cell: number, state: 'new', why: `${lost}: all variables are lost, and the notebook is empty`};
	}
	if (cell.isNew && cell.fresh)
		why.push(cell.fresh);
	if (cell.why)
		why.push(`${cell.why}; what it had set until then stays`);
	if (cell.left)
		why.push(`${cell.left} of the processes that the code started were still running, and were ended`);
	return {name, cell: number, state: cell.isNew ? 'new' : 'kept', ...why.length > 0 && {why: why.join('; ')}};
};

const answer = (exitCode) => {
	const {run, claim} = cell;
	const notebook = told();

	tools.say({state: {kept: !cell.lost, why: notebook.why}});
	if (cell.cancelled) {
		const details = {stdout: cell.said.stdout.text(), stderr: cell.said.stderr.text(), notebook};
		tools.say({failed: {id: run.id, code: 'EXECUTION_ERROR', message: `the code was ended (${cell.cancelled})`, details}});
		return;
	}
	const output = tools.answerOf(cell.said, cell.late ? 124 : exitCode, exitCode !== 0,
		tools.howEnded(cell.late, cell.signal, run.inputs.timeoutMs));
	tools.say({result: {id: run.id, output: {...output, ...claim, notebook}}});
};

// ---- all runs ----

const next = () => {
	for (let at = 0; at < lines.length;) {
		const [line] = !lines[at].run || !cell ? lines.splice(at, 1) : [undefined];

		if (line?.cancel)
			onCancel(line.cancel);
		else if (line?.run)
			begin(line.run);
		at = line ? 0 : at + 1;
	}
};

const stop = () => {
	if (head) {
		const child = head;
		endRest();
		head = undefined;
		kill(child.pid, 'SIGKILL');
	}
	process.exit(0);
};

export const serve = (given) => {
	tools = given;
	tools.readAnswersBy(answerTo);
	startHead();
	const orders = new Socket({fd: READ, readable: true, writable: false});
	orders.on('data', (data) => {
		feed(data);
		next();
	});
	orders.on('end', stop);
	orders.on('error', stop);
};
