// SPDX-License-Identifier: Apache-2.0
'use strict';
// Where ajv departs from the specification, as one of its known faults, the
// schema can be put in other words that it gets right. With these a pair's
// verdict is foretold, and which fault was to blame.
const {object, isObject, OUTLANDISH} = require('./value');
const {KEYWORD} = require('./unevaluated');

// V with F applied to each object in it, innermost first.
function each(v, f) {
	if (Array.isArray(v))
		return v.map((e) => each(e, f));
	if (!isObject(v))
		return v;
	const o = object();
	for (const key of Object.keys(v))
		o[key] = each(v[key], f);
	return f(o);
}

function renamed(o, names) {
	const out = object();

	for (const key of Object.keys(o))
		out[Object.hasOwn(names, key) ? names[key] : key] = o[key];
	return out;
}

// ---- "$dynamicRef": with one resource it means what "$ref" does ----

const STATIC = {$dynamicRef: '$ref', $dynamicAnchor: '$anchor'};
const dynamic = (root) => each(root, (o) => renamed(o, STATIC));

// ---- "multipleOf" divides doubles ----

const EXACT = 'exactMultipleOf';
const exact = (root) => each(root, (o) => renamed(o, {multipleOf: EXACT}));

// N as a whole number of powers of ten.
function decimal(n) {
	const [, sign, whole, part = '', e = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/i.exec(String(n));

	return {digits: BigInt(sign + whole + part), power: Number(e) - part.length};
}

function isMultiple(n, of) {
	const a = decimal(n), b = decimal(of), low = Math.min(a.power, b.power);
	const scaled = (d) => d.digits * 10n ** BigInt(d.power - low);

	return scaled(a) % scaled(b) === 0n;
}

const exactKeyword = {
	keyword: EXACT,
	type: 'number',
	schemaType: 'number',
	compile: (of) => (n) => isMultiple(n, of),
};

const also = (rest, s) => Object.assign(object(rest), {allOf: [...(rest.allOf ?? []), s]});

// ---- a member whose name is "" counts as there ----

const hasNameless = () => object({anyOf: [
	object({not: object({type: 'object'})}),
	object({not: object({propertyNames: object({not: object({const: ''})})})}),
]});

// The keywords stay: what they ask for besides is not in question.
function asked(o) {
	let out = o;

	if (Array.isArray(o.required) && o.required.includes(''))
		out = also(out, hasNameless());
	for (const key of Object.keys(isObject(o.dependentRequired) ? o.dependentRequired : {}))
		if (o.dependentRequired[key].includes?.(''))
			out = also(out, object({dependentSchemas: object({[key]: hasNameless()})}));
	return out;
}

const nameless = (root) => each(root, asked);

// ---- array keywords after "prefixItems" for an array that is shorter ----

function apart(o) {
	const {prefixItems, items, ...rest} = o;

	if (!Array.isArray(prefixItems))
		return o;
	return also(rest, object(items === undefined ? {prefixItems} : {prefixItems, items}));
}

const prefixApart = (root) => each(root, apart);

// ---- "unevaluatedItems" of elements that only some branches look at ----

const counted = (root) => each(root, (o) => renamed(o, {unevaluatedItems: KEYWORD}));

// ---- what a failed "if" evaluated does not count ----

const conjunction = (...all) => object({allOf: all.filter((s) => s !== undefined)});

function chosen(o) {
	const {if: test, then, else: otherwise, ...rest} = o;

	if (test === undefined || (!isObject(test) && typeof test !== 'boolean'))
		return o;
	const either = object({anyOf: [
		conjunction(test, then),
		conjunction(object({not: test}), otherwise),
	]});
	return also(rest, either);
}

const alternatives = (root) => each(root, chosen);

// ---- names that every JavaScript object has ----

const harmless = (name) => (OUTLANDISH.includes(name) ? name.replace('o', 'u') : name);

function innocent(v) {
	if (typeof v === 'string')
		return harmless(v);
	if (Array.isArray(v))
		return v.map(innocent);
	if (!isObject(v))
		return v;
	const o = object();
	for (const key of Object.keys(v))
		o[harmless(key)] = innocent(v[key]);
	return o;
}

const same = (v) => v;
const REMEDIES = [
	{name: 'multipleOf', ofSchema: exact, ofData: same},
	{name: 'required', ofSchema: nameless, ofData: same},
	{name: 'prefixItems', ofSchema: prefixApart, ofData: same},
	{name: 'unevaluatedItems', ofSchema: counted, ofData: same},
	{name: 'if', ofSchema: alternatives, ofData: same},
	{name: 'names', ofSchema: innocent, ofData: innocent},
];

const EACH = REMEDIES.map((r) => [r]);

module.exports = {dynamic, exactKeyword, REMEDIES, EACH};
