// SPDX-License-Identifier: Apache-2.0
'use strict';
// generate.js AJV DIR PAIRS SEED - writes DIR/NNNNN.json in the form of the
// official test suite, with the verdicts of the ajv in the folder AJV. A test
// whose name has a second word is one that ajv gets wrong, and why.
const fs = require('fs');
const path = require('path');
const random = require('./random');
const {text, value, lossy} = require('./value');
const {document} = require('./schema');
const {instance} = require('./instance');
const {dynamic, exactKeyword, REMEDIES, EACH} = require('./remedy');
const unevaluated = require('./unevaluated');

const PER_SCHEMA = 4, PER_FILE = 100; // instances, schemas
const TRIES = 12; // at an instance with the verdict that is wanted
const NONE = []; // remedies

const [ajvDir, outDir, pairs, seed] = process.argv.slice(2);
const Ajv = require(path.resolve(ajvDir, 'node_modules/ajv/dist/2020')).default;

const ajv = new Ajv({
	strict: false, // unknown keywords and odd combinations are no errors
	validateFormats: false, // "format" annotates
	ownProperties: true, // "constructor" is there only when it is given
	messages: false,
	code: {optimize: false}, // compiles faster
	logger: false,
});
ajv.addKeyword(exactKeyword);
ajv.addKeyword(unevaluated.keyword(ajv));

let ids = 0; // given to schemas

// A function of an instance and of what to put in other words; each wording
// is compiled when it is first needed.
function judge(root) {
	const plain = dynamic(root), compiled = new Map(), worded = new Map();

	function compile(remedies) {
		const schema = text(remedies.reduce((s, r) => r.ofSchema(s), plain));

		if (!compiled.has(schema))
			compiled.set(schema, ajv.compile(
				{...JSON.parse(schema), $id: `http://localhost/${++ids}`}));
		return compiled.get(schema);
	}
	return (data, remedies = NONE) => {
		if (!worded.has(remedies))
			worded.set(remedies, compile(remedies));
		return worded.get(remedies)(
			JSON.parse(text(remedies.reduce((v, r) => r.ofData(v), data))));
	};
}

// Half of them are to pass, however seldom that comes about by itself.
function candidate(root, passes) {
	const wanted = random.chance(50);
	let data;

	for (let i = 0; i < TRIES; i++) {
		data = random.chance(97) ? instance(root) : value();
		if (passes(data) === wanted)
			break;
	}
	return data;
}

// Which fault of ajv's, if any, decides on DATA.
function fault(root, passes, data) {
	const valid = passes(data);

	if (passes(data, REMEDIES) !== valid)
		return ` ${EACH.find((r) => passes(data, r) !== valid)?.[0].name ?? 'several'}`;
	return lossy(root) || lossy(data) ? ' digits?' : '';
}

function attempt(n) {
	const root = document(), passes = judge(root);
	const tests = Array.from({length: PER_SCHEMA}, (_, i) => {
		const data = candidate(root, passes), why = fault(root, passes, data);

		return `{"description":"i${i}${why}","data":${text(data)},"valid":${passes(data)}}`;
	});
	return `{"description":"s${n}","schema":${text(root)},"tests":[\n${tests.join(',\n')}]}`;
}

// Some schemas ajv compiles to code that does not run ("items0 is not
// defined"); another takes the place of such a one.
const brokenCode = (e) => /^\s*at validate\d+ \(eval at/m.test(e.stack);

function group(n) {
	for (;;) {
		try {
			return attempt(n);
		} catch (e) {
			if (!brokenCode(e))
				throw e;
			console.log(`s${n}: ${JSON.stringify(e.message)}`);
		}
	}
}

random.seed(Number(seed));
fs.mkdirSync(outDir, {recursive: true});
for (let n = 0; n * PER_SCHEMA < pairs; n += PER_FILE) {
	const groups = Array.from({length: Math.min(PER_FILE, pairs / PER_SCHEMA - n)},
		(_, i) => group(n + i));
	const file = `${String(n).padStart(5, '0')}.json`;

	fs.writeFileSync(path.join(outDir, file), `[${groups.join(',\n')}]\n`);
}
