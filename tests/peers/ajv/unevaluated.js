// SPDX-License-Identifier: Apache-2.0
'use strict';
// "unevaluatedItems" from the text of Core 11.2, asking ajv only whether
// subschemas pass. Its own counts as evaluated what a failed branch looked at.
const {target} = require('./schema');

const KEYWORD = 'exactUnevaluatedItems';

// Where each object in a schema stands.
function pointers(v, at = '', map = new Map()) {
	if (v === null || typeof v !== 'object')
		return map;
	map.set(v, at);
	for (const key of Object.keys(v)) {
		const token = key.replace(/~/g, '~0').replace(/\//g, '~1');

		pointers(v[key], `${at}/${encodeURIComponent(token)}`, map);
	}
	return map;
}

function keyword(ajv) {
	const known = new WeakMap(), at = new WeakMap();

	function passes(root, s, data) {
		if (typeof s === 'boolean')
			return s;
		if (!at.has(root))
			at.set(root, pointers(root));
		if (!known.has(s))
			known.set(s, ajv.compile({$ref: `${root.$id}#${at.get(root).get(s)}`}));
		return known.get(s)(data);
	}

	// Into SEEN: the elements of DATA that S, which it passes, evaluates.
	function evaluated(root, s, data, seen) {
		const add = (from, to) => {
			for (let i = from; i < to; i++)
				seen.add(i);
		};
		const into = (sub) => evaluated(root, sub, data, seen);
		const ok = (sub) => passes(root, sub, data);

		if (typeof s === 'boolean')
			return;
		add(0, Math.min(s.prefixItems?.length ?? 0, data.length));
		if (s.items !== undefined || s[KEYWORD] !== undefined)
			add(0, data.length);
		if (s.contains !== undefined)
			data.forEach((e, i) => passes(root, s.contains, e) && seen.add(i));
		if (s.$ref !== undefined)
			into(target(root, s.$ref));
		(s.allOf ?? []).forEach(into);
		[...(s.anyOf ?? []), ...(s.oneOf ?? [])].filter(ok).forEach(into);
		if (s.if !== undefined && ok(s.if))
			[s.if, s.then ?? true].forEach(into);
		else if (s.if !== undefined)
			into(s.else ?? true);
	}

	return {
		keyword: KEYWORD,
		type: 'array',
		compile: (schema, parent, it) => (data) => {
			const {[KEYWORD]: _, ...rest} = parent, seen = new Set();
			const root = it.schemaEnv.root.schema;

			evaluated(root, rest, data, seen);
			return data.every((e, i) => seen.has(i) || passes(root, schema, e));
		},
	};
}

module.exports = {keyword, KEYWORD};
