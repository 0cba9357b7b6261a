// SPDX-License-Identifier: Apache-2.0
'use strict';
// Instances made to fit a schema, with no promise: the schemas that concern
// one value are gathered, and their keywords followed as far as is simple.
const {below, between, chance, pick} = require('./random');
const {Num, num, object, number, string, name, value, restyle, mutate, isObject} = require('./value');
const {matching} = require('./pattern');
const {target} = require('./schema');

const DEPTH = 4;

// Into ALL: S and what it applies to the same value.
function gather(root, s, all, depth) {
	if (!isObject(s) || depth > 12)
		return;
	const more = (sub) => gather(root, sub, all, depth + 1);

	all.push(s);
	if (s.$ref !== undefined)
		more(target(root, s.$ref));
	if (s.$dynamicRef !== undefined)
		more(target(root, s.$dynamicRef));
	(s.allOf ?? []).forEach(more);
	if (s.anyOf !== undefined)
		more(pick(s.anyOf));
	if (s.oneOf !== undefined)
		more(pick(s.oneOf));
	if (s.if !== undefined && chance(60)) {
		more(s.if);
		more(s.then);
	} else {
		more(s.else);
	}
	if (s.dependentSchemas !== undefined && chance(50))
		more(pick(Object.values(s.dependentSchemas)));
}

const having = (all, key) => all.filter((s) => s[key] !== undefined).map((s) => s[key]);
const least = (all, key, otherwise) =>
	Math.max(otherwise, ...having(all, key).map((n) => n.value));
const most = (all, key, otherwise) =>
	Math.min(otherwise, ...having(all, key).map((n) => n.value));

function typeFor(all) {
	const types = having(all, 'type').map((t) => [].concat(t));
	const fits = (t) => types.every((ts) =>
		ts.includes(t) || (t === 'integer' && ts.includes('number')));
	const about = {
		object: ['properties', 'required', 'unevaluatedProperties', 'dependentRequired',
			'dependentSchemas', 'patternProperties', 'additionalProperties', 'propertyNames'],
		array: ['items', 'prefixItems', 'contains', 'uniqueItems', 'unevaluatedItems', 'minItems'],
		string: ['pattern', 'minLength', 'maxLength'],
		number: ['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
	};
	const spoken = Object.keys(about).filter((t) =>
		fits(t) && about[t].some((k) => all.some((s) => s[k] !== undefined)));
	const all7 = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];
	const possible = all7.filter(fits);

	if (spoken.length > 0 && chance(85))
		return pick(spoken);
	return pick(possible.length > 0 ? possible : all7);
}

function makeNumber(all, whole) {
	const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']
		.flatMap((k) => having(all, k));
	const of = having(all, 'multipleOf');
	let n = bounds.length > 0 && chance(70) ? pick(bounds) : number();

	if (of.length > 0 && chance(75)) {
		const step = pick(of).value, times = Math.round(n.value / step);
		const t = Number((times * step).toPrecision(15));

		n = num(isFinite(t) ? t : step);
	} else if (bounds.length > 0 && chance(40)) {
		n = num(n.value + pick([1, -1, 0.5, -0.5]));
	}
	if (whole && !Number.isInteger(n.value))
		n = num(Math.round(n.value));
	return chance(12) ? restyle(n) : n;
}

function makeString(all) {
	const patterns = having(all, 'pattern');
	const low = least(all, 'minLength', 0), high = most(all, 'maxLength', low + 5);
	let chars = [...(patterns.length > 0 ? matching(pick(patterns)) : string(low, Math.max(low, high)))];

	while (chars.length < low)
		chars.push(...(chars.length > 0 && chance(50) ? chars.slice(0, 1) : string(1, 1)));
	if (chars.length > high && chance(80))
		chars = chars.slice(0, high);
	return chars.join('');
}

function schemasOfItem(all, i) {
	const out = [];

	for (const s of all) {
		const n = s.prefixItems?.length ?? 0;

		if (i < n)
			out.push(s.prefixItems[i]);
		else if (s.items !== undefined)
			out.push(s.items);
		else if (s.unevaluatedItems !== undefined)
			out.push(s.unevaluatedItems);
	}
	return out;
}

function makeArray(root, all, depth) {
	const low = least(all, 'minItems', 0), high = most(all, 'maxItems', 4);
	const wanted = having(all, 'contains');
	const prefix = Math.max(0, ...having(all, 'prefixItems').map((p) => p.length));
	const few = all.some((s) => s.items === false || s.unevaluatedItems === false) && chance(70);
	let n = between(low, Math.max(low, few ? Math.min(prefix, high) : high));

	if (wanted.length > 0)
		n = Math.max(n, least(all, 'minContains', 1));
	return Array.from({length: n}, (_, i) => {
		const here = schemasOfItem(all, i);

		if (wanted.length > 0 && chance(55))
			here.push(pick(wanted));
		return make(root, here, depth - 1);
	});
}

function schemasOfMember(all, key) {
	const out = [];

	for (const s of all) {
		const before = out.length;

		if (s.properties !== undefined && key in s.properties)
			out.push(s.properties[key]);
		for (const p of Object.keys(s.patternProperties ?? {}))
			if (new RegExp(p, 'u').test(key))
				out.push(s.patternProperties[p]);
		if (out.length === before)
			out.push(s.additionalProperties ?? s.unevaluatedProperties ?? true);
	}
	return out;
}

function namesFor(root, all) {
	const names = new Set(having(all, 'required').flat());
	const closed = all.some((s) =>
		s.additionalProperties === false || s.unevaluatedProperties === false);

	for (const key of having(all, 'properties').flatMap(Object.keys))
		if (chance(65))
			names.add(key);
	for (const p of having(all, 'patternProperties').flatMap(Object.keys))
		if (chance(60))
			names.add(matching(p));
	for (const key of having(all, 'dependentSchemas').flatMap(Object.keys))
		if (chance(40))
			names.add(key);
	for (const s of having(all, 'propertyNames'))
		if (chance(50))
			names.add(makeString([s].filter(isObject)));
	if (!closed || chance(20))
		for (let n = below(3); n > 0; n--)
			names.add(name());
	for (const needs of having(all, 'dependentRequired'))
		for (const key of Object.keys(needs))
			if (names.has(key) && chance(80))
				needs[key].forEach((k) => names.add(k));
	// U+0000 in a name is more than json-c can hold.
	return [...names].map((n) => n.replace(/\0/g, '0'));
}

function makeObject(root, all, depth) {
	const o = object(), high = most(all, 'maxProperties', 8);
	const names = namesFor(root, all);

	while (names.length < least(all, 'minProperties', 0))
		names.push(`more${names.length}`);
	for (const key of chance(80) ? names.slice(0, high) : names)
		o[key] = make(root, schemasOfMember(all, key), depth - 1);
	return o;
}

// A value that may pass all of SCHEMAS.
function make(root, schemas, depth) {
	const all = [], given = [];

	schemas.forEach((s) => gather(root, s, all, 0));
	given.push(...having(all, 'const'), ...having(all, 'enum').flat());
	if (given.length > 0 && chance(85)) {
		const v = pick(given);

		return v instanceof Num && chance(20) ? restyle(v) : v;
	}
	if (all.length === 0 || depth <= 0)
		return all.length === 0 ? value(1) : value(0);
	switch (typeFor(all)) {
	case 'number':
		return makeNumber(all, false);
	case 'integer':
		return makeNumber(all, true);
	case 'string':
		return makeString(all);
	case 'array':
		return makeArray(root, all, depth);
	case 'object':
		return makeObject(root, all, depth);
	case 'boolean':
		return chance(50);
	default:
		return null;
	}
}

// One that fits, or was meant to; or one that is off by a little.
function instance(root) {
	const v = make(root, [root], DEPTH);

	return chance(35) ? mutate(v) : v;
}

module.exports = {instance};
