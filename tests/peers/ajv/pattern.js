// SPDX-License-Identifier: Apache-2.0
'use strict';
// Regular expressions of ECMA-262 with the flag u, each with a way to make
// strings that it is likely to match.
const {below, between, chance, pick} = require('./random');

const nothing = () => '';
const lit = (source, sample = source) => ({source, make: () => sample});
const oneOf = (source, samples) => ({source, make: () => pick([...samples])});

const ATOMS = [
	lit('a'), lit('b'), lit('ab'), lit('0'), lit('_'), lit('-'), lit('é'), lit('日'), lit('😀'),
	lit('\\.', '.'), lit('\\/', '/'), lit('\\\\', '\\'), lit('\\t', '\t'), lit('\\n', '\n'),
	lit('\\x41', 'A'), lit('\\u0042', 'B'), lit('\\u{1F600}', '😀'),
	lit('\\uD83D\\uDE00', '😀'), lit('\\cJ', '\n'), lit('[\\0]', '\0'), lit('\\$', '$'),
	oneOf('.', 'ab0é日😀 '), oneOf('\\d', '0123456789'), oneOf('\\D', 'ab-é'),
	oneOf('\\w', 'aZ0_'), oneOf('\\W', '-é😀 '), oneOf('\\s', ' \t\n\u00a0\ufeff\u2028'),
	oneOf('\\S', 'aé0-'), oneOf('[a-c]', 'abc'), oneOf('[^a-c]', 'de0é\n😀'),
	oneOf('[\\d_-]', '07_-'), oneOf('[^\\s\\w]', '-é.'), oneOf('[\\u{1F600}-\\u{1F64F}]', '😀😁🙏'),
	oneOf('[à-ü]', 'éàü'), oneOf('[\\]\\\\^]', ']\\^'), oneOf('[\\b]', '\b'), oneOf('[^]', 'a\n😀'),
	oneOf('\\p{L}', 'aßéж日'), oneOf('\\p{Lu}', 'AZΩİ'), oneOf('\\P{L}', '0-_'),
	oneOf('\\p{Script=Greek}', 'Ωα'), oneOf('\\p{sc=Cyrillic}', 'ж'), oneOf('\\p{Nd}', '0٣'),
	oneOf('\\p{General_Category=Decimal_Number}', '1٣'), oneOf('[\\p{Ll}\\d]', 'aß0'),
	oneOf('[^\\p{L}]', '0- '), oneOf('\\p{ASCII}', 'a0'), oneOf('\\p{Alphabetic}', 'aé日'),
	oneOf('\\p{White_Space}', ' \u2028'), oneOf('\\p{Emoji_Presentation}', '😀'),
];
const WIDTHLESS = ['^', '$', '\\b', '\\B', '(?=a)', '(?!a)', '(?=.*\\d)', '(?!.*b)',
	'(?<=a)', '(?<!a)'];
const QUANTIFIERS = [
	['*', 0, 3], ['+', 1, 3], ['?', 0, 1], ['{2}', 2, 2], ['{1,3}', 1, 3], ['{2,}', 2, 4],
	['{0}', 0, 0], ['*?', 0, 2], ['+?', 1, 2], ['??', 0, 1], ['{1,2}?', 1, 2],
];

function repeated(node) {
	const [mark, low, high] = pick(QUANTIFIERS);

	return {
		source: node.source + mark,
		make() {
			let s = '';

			for (let n = between(low, high); n > 0; n--)
				s += node.make();
			return s;
		},
	};
}

const grouped = (node, open = pick(['(?:', '('])) =>
	({source: `${open}${node.source})`, make: node.make});

// What a quantifier may follow: a "literal" of two is not one atom.
const single = (node) => (node.source === 'ab' ? grouped(node, '(?:') : node);

function term(depth) {
	const n = below(depth > 0 ? 12 : 8);

	if (n < 6)
		return pick(ATOMS);
	if (n < 8)
		return repeated(single(pick(ATOMS)));
	if (n < 9)
		return {source: pick(WIDTHLESS), make: nothing};
	const inner = grouped(disjunction(depth - 1));
	return chance(50) ? repeated(inner) : inner;
}

function sequence(depth) {
	const terms = Array.from({length: between(1, 3)}, () => term(depth));

	return {
		source: terms.map((t) => t.source).join(''),
		make: () => terms.map((t) => t.make()).join(''),
	};
}

function disjunction(depth) {
	if (chance(75))
		return sequence(depth);
	const either = [sequence(depth), sequence(depth)];

	return {
		source: either.map((t) => t.source).join('|'),
		make: () => pick(either).make(),
	};
}

// A group and what refers back to it.
function echo() {
	const inner = disjunction(0), named = chance(40);
	let said;

	return {
		source: named ? `(?<twin>${inner.source})-\\k<twin>` : `(${inner.source})-\\1`,
		make() {
			said = inner.make();
			return `${said}-${said}`;
		},
	};
}

const PLAIN = [lit('^a', 'a'), lit('b$', 'b'), lit('^x\\d$', 'x1'), lit('^[a-c]+$', 'ab'), lit('', '')];
const known = new Map();

function pattern() {
	const body = chance(12) ? echo() : chance(15) ? pick(PLAIN) : disjunction(2);
	const whole = chance(35) && !body.source.includes('|') ?
		{source: `^${body.source}$`, make: body.make} : body;

	known.set(whole.source, whole);
	return whole.source;
}

// A string that SOURCE, one of ours, may match.
const matching = (source) => known.get(source).make();

module.exports = {pattern, matching};
