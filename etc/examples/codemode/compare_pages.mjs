// SPDX-License-Identifier: Apache-2.0
// Reads pages by the browser, and compares two; says why where no page can be read.
import paddock from 'paddock';

const urls = process.argv.slice(2);
try {
	const {tabs, diff} = await paddock.call('multi_tab_compare', {urls, extract: {pageInfo: false}});
	await paddock.keep('comparison.json', JSON.stringify({tabs, diff}), {mimeType: 'application/json'});
	console.log(`${tabs.length} pages are compared`);
} catch (error) {
	if (!(error instanceof paddock.Error))
		throw error;
	console.log(`no page can be read: ${error.code}: ${error.message}`);
}
