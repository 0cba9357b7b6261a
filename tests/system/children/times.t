#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The time and the version that a caller gives a call, by each module: a called run that takes too long is the
# error RUN_TIMEOUT, of a separate class in Python and in Node.js. Names of the modules hide no names of the
# languages: no global name of Node.js, and no builtin of Python by import *.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false};
my %templates = (
	waits => lua('run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	twice => lua('return inputs.n * 2', annotations => $reads),
	said  => lua('return inputs.timeout .. inputs.version', annotations => $reads),
	tries => lua('local ok, e = pcall(run.template, "waits", {}, {timeoutMs = inputs.ms}) return {code = e.code, limit = e.details.limit, allowed = e.details.allowed}', annotations => $reads, permissions => {templates => ['*']}),
);
my $s = Paddock->new(dirs => ["$TOP/etc/templates"], templates => \%templates, config => "[grant \"tries\"]\ntemplates = *\n")->greeted;

sub stdout_of {
	my ($needed, $tool, $code, %more) = @_;
	my $v;

	return undef if lacks($needed);
	$v = $s->run_sync($tool => {code => $code, %more});
	return $v->{result}{exitCode} // 1 ? json_of($v) : $v->{result}{stdout};
}

# ---- times ----

{
	my $r = $s->run_sync(tries => {ms => 100})->{result};

	is("$r->{code} $r->{limit}", 'RUN_TIMEOUT timeout', 'a call of Lua ends after its time') or diag explain $r;
}
my %TIMES = (
	run_python => ['python3', <<'END', <<'END', "84 40\nlong1\n84\n"],
import asyncio, paddock
def tell(make):
    try:
        make()
    except paddock.Timeout as error:
        print(error.code, isinstance(error, paddock.Error))
tell(lambda: paddock.call("waits", timeout=0.1))
tell(lambda: paddock.run("waits", timeout=0.1))
tell(lambda: paddock.map("waits", [{}, {}], timeout=0.1))
tell(lambda: asyncio.run(paddock.acall("waits", timeout=0.1)))
for wrong in 0, -1, float("nan"):
    try:
        paddock.call("waits", timeout=wrong)
    except ValueError:
        print("ValueError")
END
import paddock
print(paddock.call("twice", n=42, timeout=1e30, version="^1.0"), paddock.run("twice", n=20, timeout=float("inf"))["output"])
print(paddock.call("said", inputs={"timeout": "long", "version": 1}))
print(paddock.map("twice", [{"n": 42}], timeout=60, version="^1.0")[0])
END
	run_node => ['node', <<'END', <<'END', "84 40\nlong1\n84\n"],
import paddock, {PaddockError, PaddockTimeout} from "paddock";
const tell = (made) => made.catch((error) => console.log(error.code, error instanceof paddock.Timeout && error instanceof PaddockTimeout && error instanceof paddock.Error && error instanceof PaddockError ? 'True' : error));
await tell(paddock.call("waits", {}, {timeoutMs: 100}));
await tell(paddock.run("waits", {}, {timeoutMs: 100}));
await tell(paddock.map("waits", [{}, {}], {timeoutMs: 100}));
await tell(paddock.call("waits", {}, {timeoutMs: 100}));
for (const timeoutMs of [0, -1, NaN])
	await paddock.call("waits", {}, {timeoutMs}).catch((error) => console.log(error instanceof RangeError ? 'ValueError' : error));
END
import paddock from "paddock";
console.log(await paddock.call("twice", {n: 42}, {timeoutMs: 1e15, version: "^1.0"}), (await paddock.run("twice", {n: 20})).output);
console.log(await paddock.call("said", {timeout: "long", version: 1}));
console.log((await paddock.map("twice", [{n: 42}], {timeoutMs: 60000, version: "^1.0"}))[0]);
END
);
for my $tool (sort keys %TIMES) {
	my ($needed, $late, $well, $said) = @{$TIMES{$tool}};

	SKIP: {
		skip_lacking(2, $needed);
		is(stdout_of($needed, $tool, $late), ("RUN_TIMEOUT True\n" x 4) . ("ValueError\n" x 3), "$tool: a call that takes too long is an error of a class of its own, and a wrong time is refused");
		is(stdout_of($needed, $tool, $well), $said, "$tool: calls with a long time, and with a version, are made");
	}
}
SKIP: {
	skip_lacking(1, 'perl');
	is(stdout_of(perl => run_bash => 'paddock-call waits -t 100ms 2>&1 | sed -n "s/  code: //p"; paddock-call waits --timeout 1m-x >/dev/null 2>&1; echo $?; paddock-call waits -t 100ms >/dev/null 2>&1; echo $?; paddock-call twice -i n=42 --timeout 1m --version "^1.0"; paddock-call waits -t soon 2>&1; echo $?'),
		"RUN_TIMEOUT\n2\n124\n84\npaddock: --timeout is \"soon\"; it has to be a duration up to 366d: 90s, 5m, 1m30s, 1500ms; a bare number is seconds\n2\n", 'run_bash: a call that takes too long has the exit status of paddock run, and a wrong time is refused');
}

# ---- names ----

SKIP: {
	skip_lacking(5, 'node');
	my @book = (notebook => 'n');
	my $r = $s->run_sync(run_node => {code => 'import {Error} from "paddock"', @book})->{result};

	like($r->{stderr}, qr/SyntaxError: The requested module 'paddock' does not provide an export named 'Error'/, 'in Node.js no name of the module hides the Error of the language');
	is($s->run_sync(run_node => {code => 'import paddock, {PaddockError as P} from "paddock"; import {readFileSync, default as fs} from "node:fs"; [Error === globalThis.Error, P === paddock.Error, fs.readFileSync === readFileSync]', @book})->{result}{value},
		'[ true, true, true ]', 'a refused import costs the notebook nothing');
	$r = $s->run_sync(run_node => {code => 'import {readFileSinc as r} from "fs"', @book})->{result};
	like($r->{stderr}, qr/does not provide an export named 'readFileSinc'/, 'a name that a module of Node.js has not is refused as in a plain run');
	like(stdout_of(node => run_node => 'console.log(Object.keys(require("paddock")).filter((name) => name in globalThis), typeof require("paddock").Error)'), qr/^\[\] function$/, 'no name that the package lists is a global one');
	like($s->run_sync(run_node => {code => 'import {Error} from "paddock"'})->{result}{stderr}, qr/does not provide an export named 'Error'/, 'a plain run of Node.js refuses the import likewise');
}
SKIP: {
	skip_lacking(1, 'python3');
	is(stdout_of(python3 => run_python => "import builtins\nbefore = dict(vars(builtins))\nfrom paddock import *\nimport paddock\nprint([n for n in paddock.__all__ if n in before], list(map(str, [1])), paddock.map.__name__, call.__name__, Error.__name__)"),
		"[] ['1'] map call Error\n", 'in Python import * hides no name of the language');
}
$s->stop;
done_testing();
