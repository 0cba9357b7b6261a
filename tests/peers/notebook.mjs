// SPDX-License-Identifier: Apache-2.0
// notebook.mjs - a conversation about a table, as a model has it, in a notebook of
// run_python: by the TypeScript SDK 1, and by SDK 2 in both eras. Needs pandas and matplotlib.
import {readFileSync} from 'node:fs';
import {client1, client2, client2Modern, textOf} from './connect.mjs';
import {is, main, ok} from './tap.mjs';

// the example's rows without its faults, for a shell that sorts lines
const [first, ...rest] = readFileSync(new URL('../../etc/examples/weather_stations.csv', import.meta.url), 'utf8')
	.split('\n').filter((line) => /^[^"]+$/.test(line) && line.split(',').length === 14);
const TABLE = `${[first, ...rest].join('\n')}\n`;
const header = first.split(',');
const rows = rest.length;
const PNG = '89504e470d0a1a0a';

function conversation(name, open) {
	const errors = [];
	let client;
	const call = (tool, args) => client.callTool({name: tool, arguments: args});
	const valueOf = (answer) => answer.structuredContent ?? JSON.parse(textOf(answer));
	const answerTo = (inputs) => call('run_python', {notebook: name, ...inputs});
	const cell = async (code, inputs) => valueOf(await answerTo({code, ...inputs}));
	const linksOf = (answer) => answer.content.filter((c) => c.type === 'resource_link');
	const isPng = (base64) => Buffer.from(base64, 'base64').subarray(0, 8).toString('hex') === PNG;

	async function isDescribed() {
		client = await open();
		client.onerror = (e) => errors.push(e);

		const tool = (await client.listTools()).tools.find((t) => t.name === 'run_python');

		ok(/notebook for work in several steps/.test(tool.description), `${name}: the tool tells when to use a notebook`);
		is(tool.inputSchema.properties.notebook.type, 'string', `${name}: the schema has the name of a notebook`);
	}

	async function loads() {
		const sorted = await call('run_bash', {code: '(head -1 t.csv; tail -n +2 t.csv | sort) >out/sorted.csv', files: {'t.csv': TABLE}});
		const [, id] = linksOf(sorted)[0].uri.match(/(art_\w+)$/);
		const loaded = await cell('import pandas as pd\ndf = pd.read_csv("sorted.csv")\nlen(df)', {files: {'sorted.csv': {$artifact: id}}});

		is([loaded.value, loaded.notebook?.state], [String(rows), 'new'], `${name}: a table is loaded by the id of an artifact`);

		const given = await cell('len(pd.read_csv("t.csv")), df.columns[0]', {files: {'t.csv': TABLE}});

		is([given.value, given.notebook.state], [`(${rows}, '${header[0]}')`, 'kept'], `${name}: a table is given as a text, and the variables are there`);
	}

	async function looks() {
		const shown = await cell('df.head(3)');

		is([shown.table.columns, shown.table.rows.length], [header, 3], `${name}: a frame is a table in the answer`);
		ok(shown.markdown.startsWith('|'), `${name}: a frame is Markdown in the answer`, shown.markdown);
	}

	async function plots() {
		const answer = await answerTo({code: 'import matplotlib.pyplot as plt\ndf.hist()\nplt.show()'});
		const [link, ...more] = linksOf(answer);
		const pictures = answer.content.filter((c) => c.type === 'image');

		is([link?.mimeType, more.length], ['image/png', 0], `${name}: a plot is one link to a picture`);
		ok(pictures.every((p) => p.mimeType === 'image/png' && isPng(p.data)), `${name}: what is shown as an image is the picture`);

		const {contents} = await client.readResource({uri: link.uri});

		ok(isPng(contents[0].blob), `${name}: the link of a plot leads to a PNG picture`);

		const got = await call('get_artifact', {artifactId: link.uri});

		ok(got.content.some((c) => c.type === 'image' && isPng(c.data)), `${name}: get_artifact shows the picture to a model`, textOf(got));
	}

	async function errs() {
		const wrong = await cell('seen = 1\ndf["no such column"]');

		is([wrong.error.name, wrong.exitCode, wrong.notebook.state], ['KeyError', 1, 'kept'], `${name}: a mistake is told, and costs nothing`);
		ok(wrong.error.traceback.some((l) => /<cell \d+>", line 2/.test(l)), `${name}: the line of a mistake is told`, wrong.error.traceback);
		is((await cell('seen, len(df)')).value, `(1, ${rows})`, `${name}: variables stay after a mistake`);
	}

	async function loops() {
		const late = await cell('df = None\nwhile True: pass', {timeoutMs: 300});

		is([late.exitCode, late.notebook.state], [124, 'restored'], `${name}: a call that takes too long is undone`);
		ok(/300 ms, which is its timeoutMs/.test(late.notebook.why), `${name}: the reason of an undone call is told`, late.notebook);
		is((await cell('len(df)')).value, String(rows), `${name}: the table is there after an undone call`);
	}

	async function goesOn() {
		const made = await answerTo({code: 'df = df.describe()\ndf.to_csv("out/summary.csv")'});
		const undone = valueOf(await answerTo({undo: true}));

		is(linksOf(made).map((l) => l.name), ['summary.csv'], `${name}: a file in out/ is a link in the answer`);
		is([undone.notebook.state, (await cell('len(df)')).value], ['restored', String(rows)], `${name}: a call that ended well can be taken back`);
	}

	async function ends() {
		await client.close();
		is(errors, [], `${name}: the client met no error that it was not told of`);
	}

	return [isDescribed, loads, looks, plots, errs, loops, goesOn, ends];
}

await main(...conversation('sdk1', client1), ...conversation('sdk2', client2),
	...conversation('sdk2_modern', () => client2Modern({pin: '2026-07-28'})));
