// SPDX-License-Identifier: Apache-2.0
// Compares each version of a file with the next one, all at once.
import paddock from 'paddock';

const versions = ['a\nb\n', 'a\nb\nc\n', 'a\nc\n'];
const diffs = await Promise.all(versions.slice(1).map((b, i) => paddock.call('text_diff', {a: versions[i], b})));
diffs.forEach(({added, removed}, i) => console.log(`${i + 1} -> ${i + 2}: +${added} -${removed}`));
