// SPDX-License-Identifier: Apache-2.0
'use strict';
// A seeded source of choices (xorshift32): the same ones on every machine.

let state;

function seed(n) {
	state = n >>> 0 || 1;
}

function next() {
	state ^= state << 13;
	state ^= state >>> 17;
	state ^= state << 5;
	state >>>= 0;
	return state;
}

const below = (n) => next() % n;
const between = (low, high) => low + below(high - low + 1);
const chance = (percent) => below(100) < percent;
const pick = (list) => list[below(list.length)];

// Some of LIST, each once, in any order.
function some(list, n) {
	const left = [...list], out = [];

	while (out.length < n && left.length > 0)
		out.push(left.splice(below(left.length), 1)[0]);
	return out;
}

module.exports = {seed, below, between, chance, pick, some};
