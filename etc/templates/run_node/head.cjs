// SPDX-License-Identifier: Apache-2.0
// Runs the cells of a notebook, one after the other, in this process and its one context.
//
// Orders come on descriptor 3, and the end of each cell is told there: the channel of this
// process to notebook.mjs alone. A cell has ended once nothing that the code began waits any
// more, as a program has: only the channel is left, which does not count meanwhile.
const fs = require('node:fs');
const inspector = require('node:inspector');
const {createRequire, isBuiltin} = require('node:module');
const {Socket} = require('node:net');
const {resolve} = require('node:path');
const {pathToFileURL} = require('node:url');
const {inspect} = require('node:util');
const {Script} = require('node:vm');

const MOST = 65536; // bytes of a value that are told
const LINES = 100; // of a traceback
const INTERRUPTED = 130;
const UNSETTLED = 13; // what Node.js exits with when an await has no end
const OURS = /^ +at .*(?:node:inspector|node:vm|head\.cjs|Socket\.emit \(node:events|(?:addChunk|readableAddChunk\w*|Readable\.push) \(node:internal|onStreamRead)/;

const channel = new Socket({fd: 3});
const session = new inspector.Session();
const evaluator = new Script('globalThis[Symbol.for("paddock.cell")]()', {filename: 'head.cjs'});
const exit = new Error('process.exit() was called');
let cell; // under way
let stdin;
let received;
let receiver; // the inspector's name of the function that takes a value from it

const tell = (line) => channel.write(JSON.stringify(line) + '\n');
const hide = (name, value) => Object.defineProperty(globalThis, name, {value, configurable: true, writable: true});

// ---- what a cell finds ----

// The process and its other cells go on.
process.exit = (code) => {
	if (code !== undefined)
		process.exitCode = code;
	tell({exiting: true});
	abandon();
	throw exit;
};

// Of the standard input of each cell, which is another file.
Object.defineProperty(process, 'stdin', {
	configurable: true,
	enumerable: true,
	get: () => stdin ??= new fs.ReadStream(null, {fd: 0, autoClose: false}),
});

const requireHere = createRequire(resolve('main.cjs'));
const found = (name) => {
	if (/^(?:\.{0,2}\/)/.test(name))
		return pathToFileURL(resolve(name)).href;
	try {
		return isBuiltin(name) ? name : pathToFileURL(requireHere.resolve(name)).href;
	} catch { // a package for import alone, or none
		return name;
	}
};
hide('paddockImport', (name) => import(found(String(name))));
hide('require', requireHere);
hide('module', {exports: {}, filename: resolve('main.cjs'), paths: []});
hide('exports', globalThis.module.exports);
hide('__filename', resolve('main.cjs'));
hide('__dirname', resolve('.'));

// Timers that wait, which end with their cell.
const timers = new Map();
for (const [set, clear] of [['setTimeout', clearTimeout], ['setInterval', clearInterval], ['setImmediate', clearImmediate]]) {
	const original = globalThis[set];
	const once = set !== 'setInterval';
	const tracked = function (call, ...more) {
		if (typeof call !== 'function')
			return original(call, ...more); // which throws
		const timer = original(function (...args) {
			if (once)
				timers.delete(timer);
			return call.apply(this, args);
		}, ...more);
		timers.set(timer, clear);
		return timer;
	};

	Object.defineProperties(tracked, Object.getOwnPropertyDescriptors(original));
	globalThis[set] = tracked;
}

const abandon = () => {
	for (const [timer, clear] of timers)
		clear(timer);
	timers.clear();
};

// ---- code ----

const NO_CODE = String.raw`//.*|/\*[^]*?\*/|'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"|${'`'}(?:\\[^]|[^${'`'}\\])*${'`'}`;
const IMPORT = String.raw`(?:^|(?<=;))[ \t]*import\s*(?:(?<name>[\w$]+)\s*,?\s*)?(?:\*\s*as\s+(?<all>[\w$]+)|\{(?<some>[^}]*)\})?\s*(?:from\s*)?(?<from>'[^'\n]*'|"[^"\n]*")`;
const EXPORT = String.raw`^[ \t]*export\s+(?:default\s+|(?=(?:async|const|let|var|function|class)\b))`;
const CALL = String.raw`(?<![.\w$])(?<call>import)\s*\(`;
const STATEMENTS = new RegExp(`(?<text>${NO_CODE})|${IMPORT}|${EXPORT}|${CALL}`, 'gm');

// A missing name would be undefined instead, and would hide a global one from each later cell.
const checkNames = (from, some) => {
	const name = from.slice(1, -1);

	if (!isBuiltin(name) && name !== 'paddock')
		return;
	const known = ['default', ...Object.keys(requireHere(name))];
	const missing = some.split(',').map((one) => one.trim().split(/\s+as\s+/)[0]).find((one) => one && !known.includes(one));
	if (missing)
		throw new SyntaxError(`The requested module '${name}' does not provide an export named '${missing}'`);
};

const importOf = ({name, all, some, from}) => {
	checkNames(from, some ?? '');
	const module = `await paddockImport(${from})`;
	const parts = [name && `default: ${name}`, some?.replaceAll(/\bas\b/g, ':')].filter(Boolean).join(', ');

	if (all)
		return `const ${all} = ${module}${name ? `; const {default: ${name}} = ${all}` : ''}`;
	return parts ? `const {${parts}} = ${module}` : module;
};

// A cell is a script, which has neither import nor export: what these mean, in as many lines.
const asScript = (code) => code.replace(/^#!/, '//').replaceAll(STATEMENTS, (whole, ...rest) => {
	const groups = rest.at(-1);

	if (groups.text)
		return whole;
	if (groups.call)
		return 'paddockImport(';
	return groups.from ? `${importOf(groups)};` : '';
});

// ---- values and errors ----

// What the inspector calls REMOTE, itself.
const valueOf = (remote) => {
	const argument = remote.objectId ? {objectId: remote.objectId}
		: remote.unserializableValue ? {unserializableValue: remote.unserializableValue} : {value: remote.value};

	received = undefined;
	session.post('Runtime.callFunctionOn',
		{objectId: receiver, functionDeclaration: 'function (value) { this(value); }', arguments: [argument], silent: true});
	return received;
};

const cut = (text) => {
	const bytes = Buffer.from(text);
	return bytes.length <= MOST ? text : `${bytes.toString('utf8', 0, MOST - 64).replace(/\ufffd$/, '')}\n[${bytes.length - MOST + 64} bytes are left out here]`;
};

const shown = (value) => {
	try {
		return cut(inspect(value));
	} catch (error) { // of a method of the value's
		return `[a value that cannot be shown: ${error?.message ?? 'an error'}]`;
	}
};

const partOf = (error, name, otherwise) => {
	try {
		return typeof error[name] === 'string' ? error[name] : otherwise;
	} catch {
		return otherwise;
	}
};

// What is told of an error that nobody caught. AT is the place of one that has none.
const fail = (error, at) => {
	const text = shown(error).split('\n').filter((line) => !OURS.test(line));
	const isError = error instanceof Error;

	if (at && isError && !text.some((line) => line.includes(cell.name)))
		text.unshift(at);
	cell.error ??= {
		name: isError ? partOf(error, 'name', 'Error') : typeof error,
		value: isError ? cut(partOf(error, 'message', '')) : shown(error),
		traceback: text.slice(0, LINES),
	};
	cell.exitCode = 1;
	fs.writeSync(2, `Uncaught ${text.join('\n')}\n`);
};

const onUncaught = (error) => {
	if (cell && error !== exit)
		fail(error);
};

// ---- a cell ----

const onEvaluated = (error, reply) => {
	const thrown = reply?.exceptionDetails;

	cell.settled = true;
	if (error)
		fail(error);
	else if (thrown) {
		const what = valueOf(thrown.exception ?? {value: thrown.text});
		if (what !== exit)
			fail(what, `${cell.name}:${thrown.lineNumber + 1}:${thrown.columnNumber + 1}`);
	} else {
		const value = valueOf(reply.result);
		if (value !== undefined)
			cell.value = shown(value);
	}
};

// Only here is code interrupted by SIGINT, which so comes only after the cell has begun.
hide(Symbol.for('paddock.cell'), () => {
	tell({begun: cell.id});
	evaluate();
});

const evaluate = () => session.post('Runtime.evaluate', {
	expression: `${asScript(cell.code)}\n//# sourceURL=${cell.name}`,
	replMode: true, // which awaits, and lets const and let be declared again
	awaitPromise: true,
	objectGroup: 'cell',
	silent: true,
}, onEvaluated);

const openStdin = (path) => {
	stdin = undefined;
	try {
		fs.closeSync(0);
	} catch { // the code has closed it
	}
	fs.openSync(path, 'r'); // the lowest that is free: 0
};

const begin = (order) => {
	cell = {id: order.id, code: order.code, name: order.name, exitCode: 0, settled: false};
	process.argv = [process.execPath, resolve('main.cjs'), ...order.args];
	process.exitCode = undefined;
	channel.unref();
	try {
		openStdin(order.stdin);
		evaluator.runInThisContext({breakOnSigint: true, displayErrors: false});
	} catch (error) {
		if (error?.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED')
			onInterrupt();
		else if (error !== exit)
			fail(error);
		cell.settled = true;
	}
};

// An interrupt ends what waits; code that runs is interrupted by the evaluator.
const onInterrupt = () => {
	abandon();
	if (!cell)
		return;
	cell.settled = true;
	cell.exitCode = INTERRUPTED;
};

const finish = () => {
	if (!cell)
		return;
	const {id, value, error} = cell;
	let exitCode = cell.exitCode || Number(process.exitCode ?? 0);

	if (!cell.settled) {
		fs.writeSync(2, 'the code waits by an await that nothing will end\n');
		exitCode ||= UNSETTLED;
	}
	cell = undefined;
	abandon();
	session.post('Runtime.releaseObjectGroup', {objectGroup: 'cell'});
	session.post('Runtime.discardConsoleEntries');
	channel.ref();
	tell({done: {id, exitCode: exitCode & 255, value, error}});
};

session.connect();
hide('paddockReceive', (value) => { received = value; });
session.post('Runtime.evaluate', {expression: 'paddockReceive'}, (error, reply) => { receiver = reply.result.objectId; });
delete globalThis.paddockReceive;
process.setUncaughtExceptionCaptureCallback(onUncaught);
process.on('beforeExit', finish);
process.on('SIGINT', onInterrupt);

let part = '';
channel.setEncoding('utf8');
channel.on('data', (data) => {
	part += data;
	for (let end; (end = part.indexOf('\n')) >= 0;) {
		const order = JSON.parse(part.slice(0, end));
		part = part.slice(end + 1);
		begin(order);
	}
});
channel.on('end', () => process.reallyExit(0));
