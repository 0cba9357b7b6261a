#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The modules named paddock without a run: a stand-in plays the run, answers in any order, and
# counts the open calls; and the end of the run is an error for whoever waits.
use strict;
use warnings;
use Cwd qw(abs_path);
use Fcntl qw(O_NONBLOCK O_RDONLY O_RDWR O_WRONLY);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib 'tests/lib';
use IO::Select;
use JSON::PP ();
use Needs;
use POSIX qw(mkfifo);
use Test::More;

my $TOP = abs_path(dirname(__FILE__) . '/../../..');
my $BUILD = $ENV{PADDOCK_BUILD} // 'build';
my $json = JSON::PP->new->canonical->allow_nonref;

$SIG{PIPE} = 'IGNORE';
$ENV{PYTHONPATH} = "$TOP/etc/modules/python";
$ENV{PYTHONDONTWRITEBYTECODE} = 1;

# Run COMMAND against a stand-in. At least HOLD open calls, or all that come in a while, are
# held, and answered in reverse. A call with the input {fail} fails; {end} is the end of the run.
# The printed text, and what the stand-in has seen.
sub stand_in {
	my ($hold, @command) = @_;
	my $at = tempdir(CLEANUP => 1);
	my $door = "$at/door";
	my %seen = (connections => 0, most => 0, calls => 0, told => []);
	my (@callers, @held, $said);

	mkfifo($door, 0600) or die "$door: $!\n";
	sysopen my $names, $door, O_RDWR | O_NONBLOCK or die "$door: $!\n";
	local $ENV{PADDOCK_CALLS} = $door;
	my $pid = open(my $out, '-|', @command) // die "@command: $!\n";

	while (1) {
		my $set = IO::Select->new($out, $names, map { $_->{lines} } @callers);
		my @ready = $set->can_read(@held ? 0.05 : 30) or do {
			last if !@held;
			answer($_) for reverse splice @held;
			next;
		};
		for my $from (@ready) {
			if ($from == $out) {
				next if sysread $out, $said, 65536, length($said // '');
				close $out;
				return ($said, {%seen, status => $? >> 8, left => [map { s{.*/}{}r } glob "$door.*"]});
			} elsif ($from == $names) {
				sysread $names, my $name, 4096;
				for (split /\n/, $name) {
					sysopen my $answers, "$door.$_.answers", O_WRONLY or die "$_: $!\n";
					sysopen my $lines, "$door.$_.lines", O_RDONLY | O_NONBLOCK or die "$_: $!\n";
					push @callers, {lines => $lines, answers => $answers, part => ''};
					$seen{connections}++;
				}
			} else {
				my ($caller) = grep { $_->{lines} == $from } @callers;
				my $n = sysread $from, $caller->{part}, 65536, length $caller->{part};
				hear($caller, \%seen, \@held, \@callers) if $n;
				@callers = grep { $_ != $caller } @callers if defined $n && !$n;
			}
		}
		if (@held >= $hold) {
			answer($_) for reverse splice @held;
		}
	}
	kill KILL => $pid;
	return ($said, \%seen);
}

sub hear {
	my ($caller, $seen, $held, $callers) = @_;

	while ($caller->{part} =~ s/\A([^\n]*)\n//) {
		my ($kind, $body) = %{$json->decode($1)};

		if (!defined $body->{id}) {
			push @{$seen->{told}}, $kind;
		} elsif ($body->{inputs}{end}) { # the descriptors are closed
			@$held = ();
			@$callers = ();
			undef $caller->{answers};
			undef $caller->{lines};
			return;
		} else {
			$seen->{calls}++;
			push @$held, [$caller, $body];
			$seen->{most} = @$held if @$held > $seen->{most};
		}
	}
}

sub answer {
	my ($caller, $body) = @{$_[0]};
	my $text = $json->encode($body->{inputs}{fail}
	    ? {id => $body->{id}, ok => JSON::PP::false, error => {code => 'NO', message => 'no luck', details => {n => $body->{inputs}{n}}}}
	    : {id => $body->{id}, ok => JSON::PP::true, value => {output => $body->{inputs}, runId => 'run_x', artifacts => []}}) . "\n";

	for (my $at = 0; $at < length $text;) {
		$at += syswrite($caller->{answers}, $text, length($text) - $at, $at) // return;
	}
}

# ---- Python ----

sub python { my ($hold, $code) = @_; return stand_in($hold, '/usr/bin/python3', '-c', "import paddock\n$code") }
sub node { my ($hold, $code) = @_; return stand_in($hold, 'node', '-e', "const paddock = require('$TOP/etc/modules/node_modules/paddock/index.cjs');\n$code") }

my %MODULES = (
	Python => [\&python, 'python3', {
		order => "print([x['n'] for x in paddock.map('t', [{'n': i} for i in range(20)], concurrency=5)])",
		fails => "try:\n    paddock.map('t', [{'n': i, 'fail': i in (3, 5)} for i in range(8)])\nexcept paddock.Error as e:\n    print(e.code, e.message, e.details['n'])",
		returns => "print([x.code if isinstance(x, paddock.Error) else x['n'] for x in paddock.map('t', [{'n': i, 'fail': i == 1} for i in range(3)], errors='return')])",
		many => "print(sum(paddock.call('t', n=i)['n'] for i in range(1000)))",
		large => "print(len(paddock.call('t', n='x' * 900000)['n']))",
		ends => "try:\n    paddock.call('t', end=True)\nexcept paddock.Error as e:\n    print(e.code)",
		tells => "paddock.progress(1, 2)\npaddock.log('info', 'x')\nprint('told')",
	}],
	'Node.js' => [\&node, 'node', {
		order => "paddock.map('t', Array.from({length: 20}, (_, n) => ({n})), {concurrency: 5}).then((all) => console.log(`[\${all.map((x) => x.n).join(', ')}]`))",
		fails => "paddock.map('t', Array.from({length: 8}, (_, n) => ({n, fail: n === 3 || n === 5}))).catch((e) => console.log(e.code, e.message, e.details.n))",
		returns => "paddock.map('t', Array.from({length: 3}, (_, n) => ({n, fail: n === 1})), {errors: 'return'}).then((all) => console.log(JSON.stringify(all.map((x) => x.code ?? x.n)).replaceAll(',', ', ').replaceAll('\"', \"'\")))",
		many => "(async () => { let sum = 0; for (let n = 0; n < 1000; n++) sum += (await paddock.call('t', {n})).n; console.log(sum); })()",
		large => "paddock.call('t', {n: 'x'.repeat(900000)}).then((x) => console.log(x.n.length))",
		ends => "paddock.call('t', {end: true}).catch((e) => console.log(e.code))",
		tells => "paddock.progress(1, 2); paddock.log('info', 'x').then(() => console.log('told'))",
	}],
);

for my $name (sort keys %MODULES) {
	my ($run, $needed, $code) = @{$MODULES{$name}};

	SKIP: {
		skip_lacking(15, $needed);
		my ($said, $seen) = $run->(5, $code->{order});
		is($said, '[' . join(', ', 0 .. 19) . "]\n", "$name: outputs are in order, whatever the order of answers");
		is($seen->{most}, 5, "$name: no more calls are open than concurrency says");
		is($seen->{connections}, 1, "$name: a process has one connection");
		is_deeply($seen->{left}, [], "$name: no FIFO is left");
		($said, $seen) = $run->(3, $code->{fails});
		is($said, "NO no luck 3\n", "$name: the first failure is raised, with code, message and details");
		is($seen->{calls}, 8, "$name: after all calls have ended");
		is(($run->(3, $code->{returns}))[0], "[0, 'NO', 2]\n", "$name: a failure may be in the place of the output");
		($said, $seen) = $run->(1, $code->{many});
		is($said, "499500\n", "$name: a thousand calls, one after the other");
		is($seen->{calls}, 1000, "$name: each is made once");
		is_deeply($seen->{left}, [], "$name: no FIFO of a thousand calls is left");
		is(($run->(1, $code->{large}))[0], "900000\n", "$name: a text larger than a pipe goes and comes");
		is(($run->(1, $code->{ends}))[0], "RUN_ENDED\n", "$name: the end of the run is an error");
		($said, $seen) = $run->(1, $code->{tells});
		is($said, "told\n", "$name: what has no answer is told without a wait");
		is_deeply($seen->{told}, [qw(progress log)], "$name: ... in order");
		is($seen->{status}, 0, "$name: the process ends by itself");
	}
}

SKIP: {
	skip_lacking(4, 'python3');
	my ($said, $seen) = python(1, <<'END');
import os, threading
sums = []
def work(k):
    sums.append(sum(paddock.call('t', n=k * 100 + i)['n'] for i in range(100)))
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sum(sums), flush=True)
pid = os.fork()
os.write(1, f"{paddock.call('t', n=pid == 0)['n']}\n".encode())
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
import asyncio
async def both():
    return await asyncio.gather(paddock.acall('t', n=1), paddock.acall('t', n=2))
print([x['n'] for x in asyncio.run(both())])
print(sorted(os.listdir('/proc/self/fd'))[:4])
END
	like($said, qr/\A319600\n/, 'Python: eight threads have their own answers');
	like($said, qr/^True$/m, 'Python: a forked process has its own answer');
	like($said, qr/^\[1, 2\]$/m, 'Python: calls of coroutines go on at once');
	is_deeply($seen->{left}, [], 'Python: threads and a fork leave no FIFO');
}

# ---- the command ----

my $CALL = "$BUILD/modules/bin/paddock-call";
my ($said, $seen) = stand_in(4, 'bash', '-c', "for i in 0 1 2 3; do $CALL t -i n=\$i & done; wait");
is(join('', sort split /^/, $said), qq({"n":0}\n{"n":1}\n{"n":2}\n{"n":3}\n), 'paddock-call: each background job has its own answer');
is($seen->{most}, 4, 'paddock-call: background jobs are open at once');
($said) = stand_in(1, 'bash', '-c', "$CALL t -i n=1 -i t=x -i j:='[2]' -i f=\@$TOP/.gitignore | head -c 9; echo; $CALL t -i n=1 -i t=x -i j:='[2]'; $CALL t -i fail=true 2>&1; echo \$?; $CALL t -i end=true 2>&1; echo \$?");
like($said, qr/\A\{"f":"\/bu\n\{"j":\[2\],"n":1,"t":"x"\}\n/, 'paddock-call: numbers, texts, files and JSON are inputs');
like($said, qr/^paddock: no luck\n  code: NO\n  details: \{"n":null\}\n1\n/m, 'paddock-call: a failure is told, with status 1');
like($said, qr/the run has ended, and answers nothing any more\n125\n\z/, 'paddock-call: the end of the run has status 125');
{
	local $ENV{PADDOCK_CALLS} = '/nowhere/door';
	like(`$CALL t 2>&1`, qr/no run of paddock listens at \/nowhere\/door: No such file or directory/, 'paddock-call: outside of a run the reason is told');
	is($? >> 8, 125, 'paddock-call: ... with status 125');
}
done_testing;
