#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Runs the code that it is given in a Node.js of its own, and tells what that
// printed and how it ended.
import {spawn} from 'node:child_process';
import {closeSync, existsSync, lstatSync, mkdirSync, openSync, readFileSync, readSync, rmSync, statSync, symlinkSync, writeFileSync, writeSync} from 'node:fs';
import {constants, cpus} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {compileFunction} from 'node:vm';

const MOST = 65536; // bytes of an output that are told: as many of its end as of its beginning
const WHOLE = 8 << 20; // bytes of a longer one that are kept, as an artifact
const LOGGED = 4096; // bytes of an output that are logged at a time
const COPIED = 1 << 20; // larger files are not copied, and can only be read

// Files that the run was given: small ones are the code's to change.
const place = (files) => {
	for (const [name, given] of Object.entries(files ?? {})) {
		mkdirSync(dirname(name), {recursive: true});
		if (statSync(given).size > COPIED)
			symlinkSync(resolve(given), name);
		else
			writeFileSync(name, readFileSync(given));
	}
};

// Node takes a file for a module by its name alone; only a module awaits by itself.
const isFunction = (code) => {
	try {
		compileFunction(code.replace(/^#!.*/, ''), ['exports', 'require', 'module']);
		return true;
	} catch {
		return false;
	}
};
const isModule = (code) => /^\s*(?:import\b[^(]|export\b)/m.test(code) ||
	/\bawait\b/.test(code) && !isFunction(code);

const say = (line) => writeSync(3, JSON.stringify(line) + '\n');

// The answer to what was said with the id ID, on descriptor 4.
let answerTo = (id) => {
	const one = Buffer.alloc(1);

	for (let line = ''; readSync(4, one) > 0;) {
		if (one[0] !== 10) {
			line += one.toString('latin1');
			continue;
		}
		const answer = JSON.parse(line);
		if (answer.id === id)
			return answer;
		line = '';
	}
	return {ok: false};
};

// A name for an artifact of ours that no file of the code's in out/ has.
const freeName = (name) => {
	for (let i = 1; i < 100; i++) {
		const called = i === 1 ? `${name}.txt` : `${name}-${i}.txt`;
		if (!lstatSync(`out/${called}`, {throwIfNoEntry: false}))
			return called;
	}
	return null;
};

// What is longer than what is told is an artifact: its name, or null if it is refused.
const keep = (name, data) => {
	const called = freeName(name);
	const path = `.${name}.${process.pid}.${process.hrtime.bigint()}`;
	try {
		writeFileSync(path, data, {flag: 'wx'});
	} catch { // its memory is full
		return null;
	}
	say({artifact: {id: name, path, name: called ?? `${name}.txt`, mimeType: 'text/plain'}});
	const answer = answerTo(name);
	try {
		rmSync(path, {force: true});
	} catch { // the code has closed its folder
	}
	return answer.ok ? called ?? `${name}.txt` : null;
};

// Files in the cage, which tell the server what was printed when a limit ends this process, too.
const printed = process.env.PADDOCK_TEMPLATE_DIR === '/template' ? '/dev/shm/.printed' : undefined;
const files = {};
const openForServer = (name) => {
	if (files[name] !== undefined)
		closeSync(files[name]);
	try {
		files[name] = printed === undefined ? undefined : openSync(`${printed}.${name}`, 'w', 0o600);
	} catch { // the code has used up its files
		files[name] = undefined;
	}
	return files[name];
};

// What the code prints to one of its outputs.
class Output {
	size = 0;
	whole = [];
	last = Buffer.alloc(0);
	fresh = Buffer.alloc(0); // what is not logged yet
	missed = 0;

	constructor(name) {
		this.name = name;
		this.file = openForServer(name);
	}

	add(data) {
		const before = this.size;
		if (this.size < WHOLE)
			this.whole.push(data.subarray(0, WHOLE - this.size));
		this.size += data.length;
		this.last = Buffer.concat([this.last, data]).subarray(-MOST / 2);
		const fresh = Buffer.concat([this.fresh, data]);
		this.missed += Math.max(fresh.length - LOGGED, 0);
		this.fresh = fresh.subarray(-LOGGED);
		if (this.file !== undefined)
			this.remember(data, before);
	}

	// The size, and then as much of the beginning and of the end as is told.
	remember(data, before) {
		const size = Buffer.from(BigUint64Array.of(BigInt(this.size)).buffer);

		try {
			if (before < MOST)
				writeSync(this.file, data, 0, Math.min(data.length, MOST - before), 8 + before);
			if (this.size > MOST)
				writeSync(this.file, this.last, 0, MOST / 2, 8 + MOST / 2);
			writeSync(this.file, size, 0, 8, 0);
		} catch { // its memory is full
		}
	}

	log() {
		if (this.fresh.length > 0) {
			const cut = this.missed > 0 ? `(${this.missed} bytes before this are not logged)\n` : '';
			say({log: {level: 'info', message: `${this.name}: ${cut}${this.fresh.toString().replace(/\n$/, '')}`}});
		}
		this.fresh = Buffer.alloc(0);
		this.missed = 0;
	}

	text() {
		const whole = Buffer.concat(this.whole);
		if (this.size <= MOST)
			return whole.toString();
		// no character is cut in two
		const first = whole.toString('latin1', 0, MOST / 2).replace(/[\xc0-\xff][\x80-\xbf]{0,3}$/, '');
		const last = this.last.toString('latin1').replace(/^[\x80-\xbf]{1,3}/, '');
		const left = this.size - first.length - last.length;
		const most = this.size <= WHOLE ? 'the whole is' : `its first ${WHOLE >> 20} MiB are`;
		const kept = keep(this.name, whole);
		const where = kept !== null ? `; ${most} the artifact ${kept}` : '';
		const text = (bytes) => Buffer.from(bytes, 'latin1').toString();
		return `${text(first)}\n[${left} bytes are left out here${where}]\n${text(last)}`;
	}
}

// Answers with what the code printed. How it ended is told in lines of ours, behind what it wrote.
const answerOf = (said, exitCode, failed, how) => {
	const answer = {stdout: said.stdout.text(), stderr: said.stderr.text(), exitCode};
	const cut = Object.values(said).filter((one) => one.size > MOST);
	const addLine = (text) => {
		answer.stderr += `${/[^\n]$/.test(answer.stderr) ? '\n' : ''}${text}\n`;
	};

	if (cut.length > 0)
		answer.truncated = Object.fromEntries(cut.map((one) => [one.name, one.size]));
	const missing = /Cannot find (?:module|package) '((?:@[\w.-]+\/)?[\w-][\w.-]*)[/']/.exec(answer.stderr);

	if (failed && missing)
		addLine(`${missing[1]} is not installed where this runs; what Node.js brings along is there, ` +
			'other source can be handed over in files, and the server\'s operator can install a template ' +
			'that has its own node_modules');
	if (how !== undefined)
		addLine(how);
	if (existsSync('result.json'))
		try {
			answer.result = JSON.parse(readFileSync('result.json', 'utf8'));
		} catch (error) {
			addLine(`result.json is no JSON: ${error.message}`);
		}
	return answer;
};

const howEnded = (late, signal, limit) => {
	if (late)
		return `ended after ${limit} ms, which is its timeoutMs`;
	if (signal === 'SIGKILL')
		return 'ended by SIGKILL: where the code did not ask for that, it took more memory than it may have';
	return signal ? `ended by ${signal}` : undefined;
};

const first = cpus().length > 0 ? [] : ['--require', join(process.env.PADDOCK_TEMPLATE_DIR, 'cpus.cjs')];
const start = (file, args) => {
	try {
		return spawn(process.execPath, [...first, file, ...args],
			{detached: true, stdio: ['pipe', 'pipe', 'pipe']});
	} catch (e) { // E2BIG
		const stderr = `node cannot be started: ${e.code}; pass large texts in files or stdin\n`;
		writeFileSync(1, JSON.stringify({stdout: '', stderr, exitCode: 127}));
		process.exit(0);
	}
};

const runOnce = (inputs) => {
	const file = isModule(inputs.code) ? 'main.mjs' : 'main.cjs';

	place(inputs.files);
	writeFileSync(file, inputs.code);
	const child = start(file, inputs.args ?? []);
	const said = {stdout: new Output('stdout'), stderr: new Output('stderr')};
	let late = false;
	let logging; // the timer of the next time
	let logs = false;

	// While it runs: a run that meets a limit has no answer.
	const log = () => {
		for (const one of Object.values(said))
			one.log();
		logging = undefined;
		logs = true;
	};
	for (const name of ['stdout', 'stderr'])
		child[name].on('data', (data) => {
			said[name].add(data);
			logging ??= setTimeout(log, logs ? 100 : 20); // the answer of quick code has it all
		});
	child.stdin.on('error', () => {}); // it need not read
	child.stdin.end(inputs.stdin ?? '');

	const kill = () => {
		try {
			process.kill(-child.pid, 'SIGKILL');
		} catch {
			// nobody is left
		}
	};
	const timer = inputs.timeoutMs === undefined ? undefined
		: setTimeout(() => { late = true; kill(); }, inputs.timeoutMs);

	child.on('exit', kill); // what it left behind, which may hold its output
	child.on('close', (code, signal) => {
		clearTimeout(timer);
		clearTimeout(logging);
		if (logs)
			log();
		const exitCode = late ? 124 : code ?? 128 + constants.signals[signal];
		const how = howEnded(late, signal, inputs.timeoutMs);

		process.stdout.write(JSON.stringify(answerOf(said, exitCode, code !== 0, how)));
	});
};

const given = readFileSync(0, 'utf8');

if (given === '') // a resident
	import('./notebook.mjs').then(({serve}) => serve({
		Output, answerOf, first, howEnded, place, say,
		readAnswersBy: (read) => { answerTo = read; },
	}));
else
	runOnce(JSON.parse(given));
