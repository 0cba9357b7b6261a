// SPDX-License-Identifier: Apache-2.0
// Forty calls, five at once, with progress; the failed ones are counted.
import paddock from 'paddock';

const texts = Array.from({length: 40}, (_, i) => 'word '.repeat(i));
let done = 0;
const counted = await paddock.map('word_count', texts.map((text) => ({text})), {concurrency: 5, errors: 'return'});
for (const one of counted)
	if (!(one instanceof paddock.Error))
		done += one.words;
await paddock.progress(texts.length, texts.length, 'counted');
console.log(`${done} words, ${counted.filter((one) => one instanceof paddock.Error).length} failures`);
