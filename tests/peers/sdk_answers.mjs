// SPDX-License-Identifier: Apache-2.0
// sdk_answers.mjs - both official clients, which check each answer by the tool's
// outputSchema and over stdio drop a session at 10 MiB: long results, handles
// and links to artifacts pass them, and all of a result can be read.
import {client1, client2, http} from './connect.mjs';
import {is, main, ok} from './tap.mjs';

const MB = 1000000;
const links = (r) => r.content.filter((c) => c.type === 'resource_link');
const texts = (r) => r.content.filter((c) => c.type === 'text').map((c) => c.text).join('\n');

async function whole(client, uris) {
	let all = '';

	for (const uri of uris)
		all += (await client.readResource({uri})).contents[0].text;
	return JSON.parse(all);
}

async function answers(n, client) {
	const call = (name, args) => client.callTool({name, arguments: args});

	const {tools} = await client.listTools();

	ok(tools.filter((t) => ['large', 'later'].includes(t.name)).every((t) => t.outputSchema),
		`SDK ${n}: tools of any mode have an outputSchema`);

	const small = await call('large', {bytes: 3});

	is(small.structuredContent, {text: 'xxx'}, `SDK ${n}: a short result`);
	is(links(small).map((l) => [l.name, l.size]), [['size.txt', 1]], `SDK ${n}: with a link to its artifact`);
	is((await client.readResource({uri: links(small)[0].uri})).contents[0].text, '3', `SDK ${n}: which is read`);

	const long = await call('large', {bytes: 6 * MB});

	is(long.structuredContent.text.length, 6 * MB, `SDK ${n}: a result of 6 MB is there`);
	ok(long.content[0].text.length < MB && texts(long).includes('structuredContent has all of it'),
		`SDK ${n}: once, and its text is the beginning`);

	const longer = await call('large', {bytes: 20 * MB});
	const parts = links(longer).filter((l) => l.uri.includes('/result'));

	is([longer.structuredContent.mode, longer.structuredContent.status, longer.isError ?? false],
		['link', 'succeeded', false], `SDK ${n}: one of 20 MB is a link`);
	ok(longer.structuredContent.resultOmitted.includes('max_answer_bytes'), `SDK ${n}: the reason is told`);
	is((await whole(client, parts.map((l) => l.uri))).text.length, 20 * MB, `SDK ${n}: by which all is read`);

	const view = await call('run_task_template', {templateId: 'large', inputs: {bytes: 20 * MB}});

	ok(view.structuredContent.resultUri && !('result' in view.structuredContent),
		`SDK ${n}: so is run_task_template's`);
	is((await call('get_task_run', {runId: view.structuredContent.runId})).structuredContent.resultUri,
		view.structuredContent.resultUri, `SDK ${n}: and get_task_run's`);

	const handle = await call('later', {bytes: 3});

	is(handle.structuredContent.mode, 'async', `SDK ${n}: a handle fits the outputSchema as well`);
	is(texts(handle).includes('start the daemon'), !http, `SDK ${n}: that its run ends with the client is said over stdio alone`);
	is(await client.ping(), {}, `SDK ${n}: the session goes on`);
	await client.close();
	is(client.errors, [], `SDK ${n}: the client met no error`);
}

await main(async () => answers(1, await client1()), async () => answers(2, await client2()));
