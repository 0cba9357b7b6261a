// SPDX-License-Identifier: Apache-2.0
// tap.mjs - one line a check, for tests/lib/Peer.pm. A script that throws, or
// waits for ever, ends in a check that failed.
import {isDeepStrictEqual, inspect} from 'node:util';

const PATIENCE_MS = 1000 * (process.env.PADDOCK_PATIENCE ?? 90);
let failed = 0;

const say = (text) => process.stdout.write(text + '\n');
const show = (v) => inspect(v, {depth: 6, breakLength: 100}).slice(0, 3000);

export function note(text) {
	for (const line of String(text).split('\n'))
		say(`# ${line}`);
}

export function ok(good, name, ...why) {
	say(`${good ? 'ok' : 'not ok'} - ${name}`);
	if (!good) {
		failed++;
		why.forEach((v) => note(typeof v === 'string' ? v : show(v)));
	}
	return good;
}

export function is(got, want, name) {
	return ok(isDeepStrictEqual(got, want), name,
		`got  ${show(got)}`, `want ${show(want)}`);
}

// LIST, of progress, rises up to N. What comes too fast for a client is not told.
export function rises(list, n, name) {
	return ok(list.at(-1) === n && list.every((v, i) => i === 0 || v > list[i - 1]), name, list);
}

// What PROMISE was rejected with; a check that failed if it was not.
export async function rejection(promise, name) {
	try {
		const value = await promise;

		ok(false, name, 'it was fulfilled:', value);
		return {};
	} catch (e) {
		ok(true, name);
		return e;
	}
}

// PROMISE, or an error that says what did not come.
export function within(promise, what) {
	let timer;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error(`gave up: ${what}`)), PATIENCE_MS);
	});

	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Call CODE until it gives something true.
export async function until(what, code) {
	const end = Date.now() + PATIENCE_MS;

	for (;;) {
		const got = await code();

		if (got)
			return got;
		if (Date.now() > end)
			throw new Error(`gave up: ${what}`);
		await new Promise((r) => setTimeout(r, 10));
	}
}

// A promise, and what fulfils it.
export function signal() {
	let fire;
	const promise = new Promise((r) => (fire = r));

	return {promise, fire};
}

export async function main(...parts) {
	for (const part of parts) {
		try {
			await within(part(), `the end of ${part.name}`);
		} catch (e) {
			ok(false, `${part.name} goes through`, e.stack ?? String(e), e);
		}
	}
	process.exit(failed ? 1 : 0);
}
