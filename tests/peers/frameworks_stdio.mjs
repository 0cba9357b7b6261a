// SPDX-License-Identifier: Apache-2.0
// frameworks_stdio.mjs - clients that exist, over stdio: each has a server of
// its own, with a state of its own, and the templates that ship.
import {readFileSync, readdirSync} from 'node:fs';
import {aborting, awkward, calling, connecting, each, end, large, valueOf} from './journey.mjs';
import {main, ok} from './tap.mjs';

const [command, ...args] = JSON.parse(process.env.PADDOCK_COMMAND);
const shipped = args[args.indexOf('--templates') + 1];
const NAMES = ['ai-sdk', 'langchain', 'openai-agents', 'mastra', 'mcp-use', 'genkit'];

const overStdio = () => connecting(NAMES, ({name}) => ({
	command,
	args: args.with(args.indexOf('--state-dir') + 1, `${process.env.HOME}/${name}`),
	env: process.env,
}));

// The inputs of the tests of a template that say what comes of them.
function* examples(template) {
	for (const file of readdirSync(`${shipped}/${template}/tests`).filter((f) => f.endsWith('.json')).sort()) {
		const {inputs, expect} = JSON.parse(readFileSync(`${shipped}/${template}/tests/${file}`));

		if (expect?.status === 'succeeded')
			yield inputs;
	}
}

async function shippedTemplates() {
	await each(async ({name, call}) => {
		const wrong = [];

		for (const template of readdirSync(shipped).sort())
			for (const inputs of [...examples(template)].slice(0, 2)) {
				const answer = await call(template, inputs).catch((e) => ({refused: true, text: e.message}));

				if (answer.refused || typeof valueOf(answer) !== 'object')
					wrong.push({template, answer});
			}
		ok(!wrong.length, `${name}: calls each template that ships`, wrong);
	});
}

await main(overStdio, calling, awkward, shippedTemplates, aborting, large, end);
