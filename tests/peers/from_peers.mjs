// SPDX-License-Identifier: Apache-2.0
// from_peers.mjs - for node --import: packages come from $PADDOCK_PEERS, where
// the Makefile has installed them, not from beside the file that imports them.
import {registerHooks, isBuiltin} from 'node:module';
import {pathToFileURL} from 'node:url';

const home = pathToFileURL(`${process.env.PADDOCK_PEERS}/package.json`).href;
const theirs = pathToFileURL(`${process.env.PADDOCK_PEERS}/node_modules/`).href;

registerHooks({
	resolve(name, context, next) {
		const ours = !context.parentURL?.startsWith(theirs);
		const bare = !isBuiltin(name) && /^[@\w]/.test(name);

		return next(name, ours && bare ? {...context, parentURL: home} : context);
	},
});
