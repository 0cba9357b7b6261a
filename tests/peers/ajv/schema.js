// SPDX-License-Identifier: Apache-2.0
'use strict';
// Schemas over all the keywords of 2020-12. A schema that looks at the same
// value as the one around it refers only to definitions further down, so that
// no reference goes round for ever.
const {below, between, chance, pick, some} = require('./random');
const {num, object, number, string, name, value, NAMES} = require('./value');
const {pattern} = require('./pattern');

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];
const DEPTH = 3;

// One document on its way: its definitions and what leads to each.
let doc;

const count = (low, high) => {
	const n = num(between(low, high));

	return chance(8) ? num(`${n.text}.0`) : n;
};

function scalarType(s) {
	const t = some(TYPES, chance(70) ? 1 : between(2, 3));

	s.type = t.length === 1 && chance(80) ? t[0] : t;
}

function numeric(s) {
	const divisors = ['1', '2', '3', '0.1', '0.01', '0.5', '1.5', '0.3', '2.5', '1e-8', '0.0001',
		'7', '1e2', '0.07', '1e308', '4', '1.0', '18446744073709551615'];

	if (chance(45))
		s.multipleOf = num(pick(divisors));
	if (chance(35))
		s.minimum = number();
	if (chance(35))
		s.maximum = number();
	if (chance(15))
		s.exclusiveMinimum = number();
	if (chance(15))
		s.exclusiveMaximum = number();
}

function textual(s) {
	if (chance(45))
		s.pattern = pattern();
	if (chance(40))
		s.minLength = count(0, 4);
	if (chance(40))
		s.maxLength = count(0, 8);
	if (chance(10))
		s.format = pick(['date', 'email', 'uri', 'no-such-format']); // annotates
	if (chance(5))
		Object.assign(s, {contentEncoding: 'base64', contentMediaType: 'application/json',
			contentSchema: {type: 'integer'}});
}

function listed(s, depth) {
	if (chance(45))
		s.prefixItems = list(depth, true, 1, 3);
	if (chance(45))
		s.items = schema(depth - 1, true);
	if (chance(40)) {
		s.contains = schema(depth - 1, true);
		if (chance(45))
			s.minContains = count(0, 3);
		if (chance(40))
			s.maxContains = count(0, 3);
	}
	if (chance(25))
		s.minItems = count(0, 3);
	if (chance(25))
		s.maxItems = count(0, 5);
	if (chance(25))
		s.uniqueItems = chance(90);
	if (chance(25))
		s.unevaluatedItems = schema(chance(50) ? 0 : depth - 1, true);
}

function members(make, low = 1, high = 3) {
	const o = object();

	for (let n = between(low, high); n > 0; n--)
		o[name()] = make();
	return o;
}

function structured(s, depth) {
	const child = () => schema(depth - 1, true);

	if (chance(70))
		s.properties = members(child, 1, 4);
	if (chance(25)) {
		s.patternProperties = object();
		for (let n = between(1, 2); n > 0; n--)
			s.patternProperties[pattern()] = child();
	}
	if (chance(25))
		s.additionalProperties = schema(chance(50) ? 0 : depth - 1, true);
	if (chance(35))
		s.required = some([...new Set([...Object.keys(s.properties ?? {}), name()])], between(0, 3));
	if (chance(15))
		s.propertyNames = schema(depth - 1, true);
	if (chance(15))
		s.minProperties = count(0, 3);
	if (chance(15))
		s.maxProperties = count(0, 5);
	if (chance(18))
		s.dependentRequired = members(() => some(NAMES, between(0, 2)), 1, 2);
	if (chance(18))
		s.dependentSchemas = members(() => schema(depth - 1, false), 1, 2);
	if (chance(30))
		s.unevaluatedProperties = schema(chance(60) ? 0 : depth - 1, true);
}

const list = (depth, child, low, high) =>
	Array.from({length: between(low, high)}, () => schema(depth - 1, child));

function combined(s, depth, child) {
	const sub = () => schema(depth - 1, child);

	switch (below(6)) {
	case 0:
		s.allOf = list(depth, child, 1, 3);
		break;
	case 1:
		s.anyOf = list(depth, child, 1, 3);
		break;
	case 2:
		s.oneOf = list(depth, child, 1, 3);
		break;
	case 3:
		s.not = sub();
		break;
	default:
		s.if = sub();
		if (chance(75))
			s.then = sub();
		if (chance(75))
			s.else = sub();
	}
}

// A reference from here; CHILD: this is not the value of the definition that
// we are in, so going back to that one ends with the instance.
function reference(s, child) {
	const from = child ? 0 : doc.at + 1;

	if (child && chance(15))
		s.$ref = '#';
	else if (from < doc.defs.length) {
		const d = doc.defs[from + below(doc.defs.length - from)];

		if (d.dynamic !== undefined && chance(75))
			s.$dynamicRef = `#${d.dynamic}`;
		else
			s.$ref = pick(d.uris);
	}
}

function values(s) {
	const v = Array.from({length: between(1, 4)}, () => value(2));

	if (chance(50))
		s.const = v[0];
	else
		s.enum = v;
}

function annotated(s) {
	Object.assign(s, pick([
		{title: 'a title'}, {description: 'described'}, {$comment: 'a comment'}, {default: null},
		{deprecated: true}, {readOnly: true}, {examples: [1]}, {'x-unknown': {type: 'string'}},
		{then: false}, {else: false}, {minContains: num(9)}, {maxContains: num(0)},
	]));
}

function schema(depth, child) {
	const s = object();

	if (depth <= 0 && chance(35))
		return chance(50);
	if (chance(4))
		return chance(65);
	if (chance(depth > 0 ? 20 : 55))
		scalarType(s);
	if (chance(depth > 0 ? 18 : 30))
		reference(s, child);
	if (chance(12))
		values(s);
	if (chance(22))
		numeric(s);
	if (chance(22))
		textual(s);
	if (depth > 0 && chance(38))
		listed(s, depth);
	if (depth > 0 && chance(48))
		structured(s, depth);
	for (let n = depth > 0 ? pick([0, 0, 1, 1, 2]) : 0; n > 0; n--)
		combined(s, depth, child);
	if (chance(6))
		annotated(s);
	return s;
}

const pointer = (key) => `#/$defs/${encodeURIComponent(key.replace(/~/g, '~0').replace(/\//g, '~1'))}`;

// A definition's key, its anchors, and every way to name it.
function definition(i) {
	const key = pick(['d', 'a/b', 'x~y', 'p%q', 'é', 'sp ace']) + i;
	const d = {key, uris: [pointer(key)]};

	if (chance(30))
		d.uris.push(`#${d.anchor = `A${i}`}`);
	else if (chance(35))
		d.uris.push(`#${d.dynamic = `D${i}`}`);
	return d;
}

function filled(d) {
	let s = schema(pick([1, 1, 1, DEPTH - 1]), false);

	if (typeof s === 'boolean' && !d.anchor && !d.dynamic)
		return s;
	s = Object.assign(object(), s);
	if (d.anchor)
		s.$anchor = d.anchor;
	if (d.dynamic)
		s.$dynamicAnchor = d.dynamic;
	return s;
}

function document() {
	doc = {at: -1, defs: Array.from({length: below(4)}, (_, i) => definition(i))};
	const root = Object.assign(object(), object(schema(pick([1, 1, 1, 2, 2, 2, DEPTH]), false)));

	if (chance(60))
		root.$schema = 'https://json-schema.org/draft/2020-12/schema';
	if (doc.defs.length > 0)
		root.$defs = object();
	for (doc.at = 0; doc.at < doc.defs.length; doc.at++)
		root.$defs[doc.defs[doc.at].key] = filled(doc.defs[doc.at]);
	return root;
}

// What each reference in the last document leads to.
const target = (root, ref) =>
	ref === '#' ? root : root.$defs[doc.defs.find((d) => d.uris.includes(ref)).key];

module.exports = {document, target};
