#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The command and runs that call runs: "explain" names the called runs that failed, "run --allow-writes" lets
# a run call templates with effects, and "last" is the last run of a client.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;

my $reads = {readOnlyHint => true, destructiveHint => false};
my @may = (annotations => $reads, permissions => {templates => ['*']});
my $d = Daemon->new(templates => {
	writes => lua('return "written"'),
	fails  => lua('run.error("NO_LUCK", "no luck today")', annotations => $reads),
	calls  => lua('return (run.template(inputs.template, {}))', @may),
	many   => lua('for i = 1, 5 do pcall(run.template, "fails", {}) end return run.error("ALL", "all failed")', @may),
}, config => qq([grant "calls"]\ntemplates = *\n[grant "many"]\ntemplates = *\n));
my $cli = Cli->new;
$d->ready;

sub paddock { return $cli->run([@_, '--socket', $d->{socket}]) }

{
	my $r = paddock('run', 'calls', '-i', 'template=writes');

	is($r->{status}, 1, 'a run that a person starts calls no template that changes things');
	like($r->{err}, qr/the template's code: PERMISSION_NOT_ALLOWED/, 'the run says why it calls no such template');
	like(paddock('run', 'calls', '-i', 'template=writes', '--allow-writes')->{out}, qr/"written"/, '--allow-writes lets the run call such a template');
}

# The id of the failed run, from the command's output.
sub failed { return (paddock('run', @_)->{err} =~ /(run_\w+) failed/)[0] }

like(paddock('explain', failed('calls', '-i', 'template=fails'))->{out}, qr/It called fails \(run_\w+\), which ended with EXECUTION_ERROR\..*paddock explain RUN/s, 'explain names the called run that failed');
paddock('run', 'many');
like(paddock('explain', 'last')->{out}, qr/2 more of the runs that it called failed\./, 'explain names a few failed runs, and counts the rest');
{
	my $id = failed('many');
	my @lines = split /\n/, paddock('ps', '-a', '--tree')->{out};
	my ($at) = grep { $lines[$_] =~ /^\Q$id\E +many +failed / } 0 .. $#lines;

	like($lines[0], qr/^RUN +TEMPLATE +STATUS +CREATED +TOOK$/, 'ps --tree has the time that each run took');
	like($lines[$_], qr/^run_\w+ +  fails +failed /, 'ps --tree has the called runs below the run that called') for $at + 1 .. $at + 5;
	my @runs = @{json_to(paddock('ps', '-a', '--tree', '--json')->{out})};
	my ($first) = grep { $runs[$_]{runId} eq $id } 0 .. $#runs;
	is_deeply([map { [@$_{qw(parentRunId depth)}] } @runs[$first + 1 .. $first + 5]], [([$id, 1]) x 5], 'ps --tree --json says how deep each run was called');
}
$d->stop;
done_testing();
