#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Runs the code that it is given in a Node.js of its own, and tells what that
// printed and how it ended.
import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {constants} from 'node:os';
import {dirname, resolve} from 'node:path';
import {compileFunction} from 'node:vm';

const MOST = 65536; // bytes of an output that are told
const COPIED = 1 << 20; // larger files are not copied, and can only be read
const inputs = JSON.parse(readFileSync(0, 'utf8'));

// Files that the run was given: small ones are the code's to change.
for (const [name, given] of Object.entries(inputs.files ?? {})) {
	mkdirSync(dirname(name), {recursive: true});
	if (statSync(given).size > COPIED)
		symlinkSync(resolve(given), name);
	else
		writeFileSync(name, readFileSync(given));
}

// Node takes a file for a module by its name alone; only a module awaits by itself.
const isFunction = (code) => {
	try {
		compileFunction(code.replace(/^#!.*/, ''), ['exports', 'require', 'module']);
		return true;
	} catch {
		return false;
	}
};
const isModule = /^\s*(?:import\b[^(]|export\b)/m.test(inputs.code) ||
	/\bawait\b/.test(inputs.code) && !isFunction(inputs.code);
const file = isModule ? 'main.mjs' : 'main.cjs';
writeFileSync(file, inputs.code);
if (!existsSync('out')) // as a file it is refused at the end
	mkdirSync('out');

const child = spawn(process.execPath, [file, ...(inputs.args ?? [])],
	{detached: true, stdio: ['pipe', 'pipe', 'pipe']});
const said = {stdout: [], stderr: []};
const size = {stdout: 0, stderr: 0};
let late = false;

for (const name of ['stdout', 'stderr'])
	child[name].on('data', (data) => {
		if (size[name] < MOST)
			said[name].push(data.subarray(0, MOST - size[name]));
		size[name] += data.length;
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
	const answer = {
		stdout: Buffer.concat(said.stdout).toString(),
		stderr: Buffer.concat(said.stderr).toString(),
		exitCode: late ? 124 : code ?? 128 + constants.signals[signal],
	};
	const cut = Object.entries(size).filter(([, n]) => n > MOST);

	if (cut.length > 0)
		answer.truncated = Object.fromEntries(cut);
	const missing = /Cannot find (?:module|package) '((?:@[\w.-]+\/)?[\w-][\w.-]*)[/']/.exec(answer.stderr);

	if (code !== 0 && missing)
		answer.stderr += `${missing[1]} is not installed where this runs; what Node.js brings along is there, ` +
			'other source can be handed over in files, and the server\'s operator can install a template ' +
			'that has its own node_modules\n';
	if (signal === 'SIGKILL' && !late)
		answer.stderr += 'killed by SIGKILL: where the code did not ask for that, it took more memory than it may have\n';
	if (existsSync('result.json'))
		try {
			answer.result = JSON.parse(readFileSync('result.json', 'utf8'));
		} catch (error) {
			answer.stderr += `result.json is no JSON: ${error.message}\n`;
		}
	process.stdout.write(JSON.stringify(answer));
});
