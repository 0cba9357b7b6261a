#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls beyond the bounds of a run, and calls without a waiting process. A value beyond the JSON of runs, or
# too many bytes, is an error in the process, and the process goes on. A child ends with the calling process.
use lib 'tests/lib';
use Paddock;
use Cage;

my $reads = {readOnlyHint => true, destructiveHint => false};
my $root = Paddock->new(idle => 1, templates => {
	echo  => lua('return inputs.a', annotations => $reads),
	large => {program => "#!/usr/bin/perl\nprint '{\"n\":123456789012345678901234567890,\"deep\":', '[' x 62, ']' x 62, '}'", annotations => $reads},
	heavy => lua('return ("x"):rep(4100000)', annotations => $reads),
	waits => lua('run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
})->{root};
my $s = Paddock->new(dirs => ["$TOP/etc/templates", "$root/templates"])->greeted;
my %needs = (run_python => 'python3', run_node => 'node', run_bash => 'perl');

sub code { my ($tool, $code, %more) = @_; return $s->run_sync($tool => {code => $code}, timeoutMs => 60000, %more)->{result} // {} }

# ---- calls that cannot be made ----

# Code with several wrong values in turn, which prints the code of each error; then a call with a good value.
my %tries = (
	run_python => <<'END',
import paddock
deep = []
for _ in range(100):
    deep = [deep]
for value in float('nan'), float('inf'), '\ud800', 'a\0b', deep, 10 ** 400, 'x' * (1 << 20), 'x' * (3 << 20), {'a\0b': 1}:
    try:
        print(paddock.call('echo', a=value))
    except paddock.Error as error:
        print(error.code)
print(paddock.call('echo', a='good'))
END
	run_node => <<'END',
import paddock from 'paddock';
let deep = [];
for (let i = 0; i < 100; i++)
	deep = [deep];
for (const a of ['\ud800', 'a\0b', deep, 'x'.repeat(1 << 20), 'x'.repeat(3 << 20), {'a\0b': 1}])
	await paddock.call('echo', {a}).then(console.log, (error) => console.log(error.code));
await paddock.call('echo', {a: 1n}).catch((error) => console.log(error.name));
console.log(await paddock.call('echo', {a: 'good'}));
END
	run_bash => <<'END',
printf 'a\0b' >nul
head -c 1048576 /dev/zero | tr '\0' x >large
head -c 3145728 /dev/zero | tr '\0' x >larger
for file in nul large larger; do paddock-call echo -i a=@$file 2>&1 | sed -n 's/  code: //p'; done
echo '{"a": 1e400}' >many
paddock-call echo --inputs "$(cat many)" 2>&1 | head -n 1 | cut -c 1-8
paddock-call echo -i a=good
END
);
my %told = (
	run_python => "INVALID_PARAMETER\n" x 9 . "good\n",
	run_node => "INVALID_PARAMETER\n" x 6 . "TypeError\ngood\n",
	run_bash => "INVALID_PARAMETER\n" x 3 . "paddock:\n\"good\"\n",
);
for my $tool (sort keys %tries) {
	SKIP: {
		skip_lacking(1, $needs{$tool});
		my $v = code($tool => $tries{$tool});

		is($v->{stdout}, $told{$tool}, "$tool: each value that cannot be told is an error, and a later call is made") or diag explain $v;
	}
}
SKIP: {
	skip_lacking(3, 'python3');
	my $v = $s->run_sync(run_python => {code => <<'END'});
import paddock
paddock.log('warning', 'a\ud800b\0c')
with paddock.step('named \udcff'):
    pass
try:
    with paddock.step('fails'):
        raise ValueError('\udcff')
except ValueError:
    pass
for wrong in (0.5, 1), (2, 1), (1, 2 ** 54):
    try:
        paddock.progress(*wrong)
    except (TypeError, ValueError) as error:
        print(type(error).__name__)
END

	is_deeply([map { "$_->{name} $_->{status}" } @{$v->{steps}}], ['named ? succeeded', 'fails failed'], 'steps whose text no JSON holds are told, as near as can be') or diag explain $v;
	is($v->{result}{stdout}, "TypeError\nValueError\nValueError\n", 'progress that cannot be told is an error');
	ok($s->log_has('msg="a\?b\?c"'), 'a log line whose text no JSON holds is told');
}
SKIP: {
	skip_lacking(2, 'perl');
	my $v = code(run_bash => 'paddock-progress a 2; echo $?; paddock-progress 2 1; echo $?; paddock-log loud x; echo $?; paddock-search --limit few x; echo $?');

	is($v->{stdout}, "2\n" x 4, 'a command refuses operands that cannot be told');
	like($v->{stderr}, qr/^paddock: DONE is "a"; it must be a whole number/, 'the command says what would pass');
}
SKIP: {
	skip_lacking(1, 'perl');
	is(code(run_bash => 'paddock-call large')->{stdout}, '{"n":123456789012345678901234567890,"deep":' . '[' x 62 . ']' x 62 . "}\n", 'the command prints the output as the run gave the output');
}
SKIP: {
	skip_lacking(1, 'python3');
	my $v = code(run_python => <<'END');
import asyncio, paddock
print(paddock.call('echo', {'a': 1}), paddock.call('echo', {'a': 1}, a=2), asyncio.run(paddock.acall('echo', {'a': 3})))
for wrong in lambda: paddock.call('echo', 1), lambda: paddock.call('echo', {}, {}), lambda: paddock.map('echo', ['ab']):
    try:
        wrong()
    except TypeError as error:
        print(error)
END

	is($v->{stdout}, "1 2 3\n" . "inputs are given by name, or as one mapping, such as {'csv': text}\n" x 2 . "the inputs of a run are a mapping, such as {'csv': text}\n", 'Python takes inputs as a mapping, too, and says what would pass') or diag explain $v;
}
# a program without a module
{
	my $v = $s->run_sync(run_bash => {code => q(echo '{"call":{"id":1,"template":"echo","inputs":{"a":1,"a":2}}}' >/proc/$PPID/fd/3; grep -m1 '"ok"' </proc/$PPID/fd/4)});

	like($v->{result}{stdout}, qr/"ok":false.*INVALID_PARAMETER.*duplicate key/, 'inputs with a name twice are refused, and the run goes on') or diag explain $v;
}

# ---- answers that are not read ----

SKIP: {
	skip_lacking(1, 'perl');
	my $v = code(run_bash => <<'END');
door=/dev/shm/.paddock
mkfifo $door.slow.lines $door.slow.answers
exec 5<>$door.slow.answers
echo slow >$door
exec 6>$door.slow.lines
for i in {1..16}; do echo "{\"call\":{\"id\":$i,\"template\":\"heavy\",\"inputs\":{}}}" >&6; done
# 16 calls are open at first, and each call needs room among these
for i in {1..6}; do
	until paddock-call heavy >answer 2>err; do
		grep -q RESOURCE_LIMIT err || { cat err; break 2; }
	done
	wc -c <answer
done
END

	is($v->{stdout}, "4100003\n" x 6, 'a process that reads 64 MiB of answers too late costs another process none of its own') or diag explain $v;
}

# ---- calls without a waiting process ----

my %leaves = (
	run_python => <<'END',
import paddock, signal

def late(*_):
    raise TimeoutError

signal.signal(signal.SIGALRM, late)
for _ in range(20):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        paddock.call('waits')
    except (TimeoutError, paddock.Error):
        signal.setitimer(signal.ITIMER_REAL, 0)
while paddock.map('echo', [{'a': 'good'}], errors='return') != ['good']:
    pass
print('good')
END
	run_node => <<'END',
import paddock from 'paddock';
const reasons = new Set();
for (let i = 0; i < 20; i++)
	await paddock.call('waits', {}, {signal: AbortSignal.timeout(100)}).catch((error) => reasons.add(error.code === 'RESOURCE_LIMIT' ? 'TimeoutError' : error.name));
if ([...reasons].join() === 'TimeoutError')
	while (await paddock.call('echo', {a: 'good'}).catch(() => {}) !== 'good');
console.log('good');
END
	run_bash => 'for i in {1..20}; do timeout -s KILL 0.1 paddock-call waits; done 2>err; until paddock-call echo -i a=good 2>err; do sleep 0.1; done',
);
# with asyncio; the thread of each call would go on to the end of the run
$leaves{'run_python, asyncio'} = <<'END';
import asyncio, paddock

async def main():
    for _ in range(20):
        try:
            await asyncio.wait_for(paddock.acall('waits'), 0.1)
        except (asyncio.TimeoutError, paddock.Error):
            pass
    while await asyncio.gather(paddock.acall('echo', a='good'), return_exceptions=True) != ['good']:
        pass

asyncio.run(main())
print('good')
END
for my $tool (sort keys %leaves) {
	SKIP: {
		my $name = $tool =~ s/,.*//r;
		skip_lacking(1, $needs{$name});
		my $v = code($name => $leaves{$tool});

		like($v->{stdout} // '', qr/^"?good"?\n\z/, "$tool: calls without a waiting process leave room for others") or diag explain $v;
	}
}
SKIP: {
	skip_lacking(1, 'perl');
	# an end is often seen while an artifact waits for the server
	my $v = $s->run_sync(run_bash => {code => <<'END'}, timeoutMs => 60000);
head -c 3000000 /dev/zero >large
for j in 1 2 3; do for i in {1..40}; do paddock-keep $j.$i large >/dev/null; done & done
for i in {1..60}; do
	timeout -s KILL 0.0$((i % 9 + 1)) paddock-call heavy >/dev/null &
	timeout -s KILL 0.1 paddock-call heavy >/dev/null
done 2>err
wait
echo all
END

	is($v->{result}{stdout}, "all\n", 'a process may end with answers unread while another keeps an artifact') or diag explain $v->{error};
}
SKIP: {
	skip_lacking(2, 'perl');
	my $run = $s->run_async(run_bash => {code => 'while :; do timeout 1 paddock-call waits; done'});
	my $v = $s->get_until($run, 'a canceled child', sub { grep { $_->{status} eq 'canceled' } @{$_->{children} // []} });

	is($v->{status}, 'running', 'the child of a process that has ended is cancelled while the run goes on');
	$s->tool(cancel_task_run => {runId => $run});
	is($s->ended($run)->{status}, 'canceled', 'the run ends');
}
$s->stop;
SKIP: {
	skip_lacking(2, 'perl');
	my $q = Paddock->new(dirs => ["$TOP/etc/templates"])->greeted(undef, {elicitation => {}});
	my $id = $q->ask_run(run_bash => {code => 'timeout 1 paddock-ask "Who?"; paddock-ask "And now?"'}, mode => 'sync');
	my ($first, $second) = map { $q->told('elicitation/create') } 1, 2;

	is($q->told('notifications/cancelled')->{params}{requestId}, $first->{id}, 'the question of a process that has ended is taken back');
	$q->reply($second, {action => 'accept', content => {answer => 'later'}});
	is($q->result($id)->{view}{result}{stdout}, qq({"answer":"later"}\n), 'a later question is answered');
	$q->stop;
}
done_testing();
