// SPDX-License-Identifier: Apache-2.0
'use strict';
// JSON values whose numbers keep their text, so that 1, 1.0 and 10e-1 are
// three different things to write and one to mean.
const {below, between, chance, pick} = require('./random');

class Num {
	constructor(text) {
		this.text = String(text);
	}
	get value() {
		return Number(this.text);
	}
}

const num = (n) => new Num(n);
const isObject = (v) =>
	v !== null && typeof v === 'object' && !Array.isArray(v) &&
	!(v instanceof Num);

// Without a prototype "__proto__" and "constructor" are names like others.
function object(members = {}) {
	return Object.assign(Object.create(null), members);
}

function text(v) {
	if (v instanceof Num)
		return v.text;
	if (Array.isArray(v))
		return `[${v.map(text).join(',')}]`;
	if (!isObject(v))
		return JSON.stringify(v);
	const members = Object.keys(v).map((k) => `${JSON.stringify(k)}:${text(v[k])}`);
	return `{${members.join(',')}}`;
}

// Where doubles, 64-bit integers and decimals part.
const EDGES = [
	'0', '-0', '0.0', '1.0', '-1.0', '1e0', '10e-1', '1E+2', '100.0', '0.1', '0.2', '0.3',
	'0.7', '1.1', '2.2', '4.35', '19.99', '0.01', '0.07', '1e-7', '1e-8', '0.0001',
	'0.00000001', '12345678.91', '123456789012', '4294967296', '2147483648', '-2147483649',
	'9007199254740991', '9007199254740992', '1e19', '1e21', '3e22',
	'1e308', '-1e308', '5e-324', '1.7976931348623157e308', '0.30000000000000004',
];
// What is not the shortest text of its double: another text may be the same.
const FINE = [
	'9007199254740993', '9223372036854775807', '18446744073709551615',
	'18446744073709551616', '18446744073709551617', '123456789012345678901234567890', '1.0000000000000001',
	'0.1000000000000000000001', '1e-400', '99999999999999999999.5',
];

function lossy(v) {
	if (v instanceof Num)
		return FINE.some((t) => v.text.includes(t));
	return v !== null && typeof v === 'object' && Object.values(v).some(lossy);
}

function number() {
	if (chance(55))
		return num(between(-3, 12));
	if (chance(50))
		return num(between(-40, 120) / pick([2, 4, 5, 10, 100]));
	return num(pick(chance(4) ? FINE : EDGES));
}

const CHARS = [
	...'aaabbbcABZ0129_-. ', '\n', '\t', '/', '~', '%', '"', '\\', 'é', 'e\u0301',
	'ß', 'İ', 'ſ', 'K', 'Ω', 'ж', '日', '本', '😀', '👩‍💻', '\u2028', '\u00a0',
	'\ufeff', '\u0000', '\u200d', '٣',
];

function string(low = 0, high = 5) {
	let s = '';

	for (let n = between(low, high); n > 0; n--)
		s += pick(CHARS);
	return s;
}

const NAMES = [
	'a', 'b', 'c', 'd', 'foo', 'bar', 'aa', 'ab', 'x1', 'x2', 'é', '日本', '😀',
	'a/b', 'a~b', 'a b', 'a%25', '', '0', '1', 'length',
];
// (ajv's deep equality calls an object's own "valueOf" and "toString".)
const OUTLANDISH = ['__proto__', 'constructor', 'hasOwnProperty'];

const name = () => (chance(2) ? pick(OUTLANDISH) : pick(NAMES));

function value(depth = 2) {
	const n = below(depth > 0 ? 10 : 7);

	if (n < 3)
		return number();
	if (n < 5)
		return string();
	if (n < 7)
		return pick([null, true, false]);
	if (n < 8)
		return Array.from({length: below(4)}, () => value(depth - 1));
	const o = object();
	for (let i = below(4); i > 0; i--)
		o[name()] = value(depth - 1);
	return o;
}

// The same number in other clothes.
function restyle(n) {
	const t = n.text;

	if (/^-?\d+$/.test(t))
		return num(pick([`${t}.0`, `${t}e0`, `${t}.00`, `${t}.0e+0`]));
	return /^-?\d+\.\d+$/.test(t) ? num(`${t}0`) : n;
}

const nudged = (n) => {
	const v = n.value;

	return num(pick([v + 1, v - 1, v + 0.5, -v, v * 2, v / 2, v + 0.01].filter(isFinite)));
};

function mutateObject(o) {
	const keys = Object.keys(o), copy = object(o);
	const key = keys.length > 0 ? pick(keys) : undefined;

	if (key === undefined || chance(25))
		copy[name()] = value(1);
	else if (chance(60))
		copy[key] = mutate(o[key]);
	else {
		delete copy[key];
		if (chance(40))
			copy[name()] = o[key];
	}
	return copy;
}

function mutateArray(a) {
	const copy = [...a], i = below(a.length || 1);

	if (a.length === 0 || chance(20))
		copy.push(value(1));
	else if (chance(55))
		copy[i] = mutate(a[i]);
	else if (chance(40))
		copy.push(a[i]);
	else
		copy.splice(i, 1);
	return copy;
}

function mutateString(s) {
	const chars = [...s], i = below(chars.length + 1);

	if (chance(40))
		chars.splice(i, 1);
	else
		chars.splice(i, chance(50) ? 1 : 0, pick(CHARS));
	return chars.join('');
}

// V with one thing changed.
function mutate(v) {
	if (chance(8))
		return value(2);
	if (v instanceof Num)
		return chance(25) ? restyle(v) : nudged(v);
	if (typeof v === 'string')
		return mutateString(v);
	if (Array.isArray(v))
		return mutateArray(v);
	if (isObject(v))
		return mutateObject(v);
	return value(1);
}

module.exports = {
	Num, num, isObject, object, text, lossy, number, string, name, value, mutate,
	restyle, NAMES, OUTLANDISH,
};
