// SPDX-License-Identifier: Apache-2.0
// Loaded before the code: what a machine says of its processors is not shown
// here, but how many of them may be used is known, and pools are made by that.
const os = require('node:os');

os.cpus = () => Array.from({length: os.availableParallelism?.() ?? 1},
	() => ({model: 'unknown', speed: 0, times: {user: 0, nice: 0, sys: 0, idle: 0, irq: 0}}));
require('node:module').syncBuiltinESMExports();
