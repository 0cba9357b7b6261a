#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The command and runs that call runs: "explain" names the called runs that failed, "status" lists all, "cancel"
# counts called runs, "run --allow-writes" lets a run call templates with effects, and "last" is a client's run.
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
	twice  => lua('return inputs.n * 2', annotations => $reads),
	nested => lua('return (run.template("calls", {template = "fails"}))', @may),
	most   => lua('for i = 1, 995 do run.template("twice", {n = i}) end for i = 1, 5 do pcall(run.template, "fails", {}) end run.error("SOME", "some failed")', @may, limits => {maxTimeoutMs => 120000}),
	waits  => lua('run.sleep(600000)', annotations => $reads, limits => {maxTimeoutMs => 600000}),
	pair   => lua('run.template("twice", {n = 1}) run.map({1, 2}, {concurrency = 2}, function() return run.template("waits", {}) end)', @may, limits => {maxTimeoutMs => 600000}),
	many   => lua('for i = 1, 5 do pcall(run.template, "fails", {}) end return run.error("ALL", "all failed")', @may),
}, config => join '', map { qq([grant "$_"]\ntemplates = *\n) } qw(calls many nested most pair));
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

like(paddock('explain', failed('calls', '-i', 'template=fails'))->{out}, qr/It called fails \(run_\w+\), which ended with EXECUTION_ERROR: no luck today\..*paddock explain RUN/s, 'explain names the called run that failed');
paddock('run', 'many');
like(paddock('explain', 'last')->{out}, qr/2 more of the runs that it called failed\./, 'explain names a few failed runs, and counts the rest');
like(paddock('explain', failed('nested'))->{out}, qr/It called calls \(run_\w+\), which ended with EXECUTION_ERROR: no luck today\.\n +calls called fails \(run_\w+\), which ended with EXECUTION_ERROR: no luck today\.\n/, 'explain follows a failure two levels deep');

# ---- a thousand children ----

{
	my $id = failed('most');
	my $v = json_to(paddock('status', $id, '--json')->{out});

	is("$v->{childrenTotal} " . @{$v->{children}}, '1000 100', 'of a thousand children the view lists a hundred');
	is_deeply($v->{unlistedChildren}, {succeeded => 900}, 'the view counts the rest by status');
	is((grep { $_->{status} eq 'failed' } @{$v->{children}}), 5, 'children that failed are listed, however late');
	like(paddock('explain', $id)->{out}, qr/It called fails .*It called fails .*It called fails .*2 more of the runs that it called failed\./s, 'explain finds the failed children among a thousand');
	my $out = paddock('status', $id)->{out};
	like($out, qr/^calls +run_\w+  twice  succeeded  \S.*$/m, 'status has a line for a child');
	like($out, qr/^ +run_\w+  fails  failed  .+  EXECUTION_ERROR\n +and 900 more succeeded$/m, 'status counts the children that are not listed');
	like(paddock('status', $v->{children}[0]{runId})->{out}, qr/^called by +\Q$id\E$/m, 'status of a child names the run that called');
}

# ---- children that end with the parent ----

{
	my $c = $d->client->greeted;
	my $id = $c->run_async('pair');
	my @waits = grep { $_->{templateId} eq 'waits' } @{$c->get_until($id, 'two children', sub { 2 == grep { $_->{status} eq 'running' } @{$_->{children} // []} })->{children}};

	like(paddock('cancel', $id)->{err}, qr/is asked to stop, and 2 called runs with it: it is running/, 'cancel says how many called runs end');
	$c->ended($_) for $id, $waits[0]{runId};
	unlike(paddock('explain', $id)->{out}, qr/It called/, 'explain blames no child that ended with the parent');
	like(paddock('explain', $waits[0]{runId})->{out}, qr/It was called by \Q$id\E, and ends with that run.*paddock explain \Q$id\E/s, 'explain of such a child names the parent');
	$c->hang_up;
}
{
	my $id = failed('many');
	my @lines = split /\n/, paddock('ps', '-a', '--tree')->{out};
	my ($at) = grep { $lines[$_] =~ /^\Q$id\E +many +failed / } 0 .. $#lines;

	like($lines[0], qr/^RUN +TEMPLATE +STATUS +CREATED +TOOK(?: +NODE)?$/, 'ps --tree has the time that each run took');
	like($lines[$_], qr/^run_\w+ +  fails +failed /, 'ps --tree has the called runs below the run that called') for $at + 1 .. $at + 5;
	my @runs = @{json_to(paddock('ps', '-a', '--tree', '--json')->{out})};
	my ($first) = grep { $runs[$_]{runId} eq $id } 0 .. $#runs;
	is_deeply([map { [@$_{qw(parentRunId depth)}] } @runs[$first + 1 .. $first + 5]], [([$id, 1]) x 5], 'ps --tree --json says how deep each run was called');
}
$d->stop;
done_testing();
