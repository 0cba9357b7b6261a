#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddock/residents and paddock/endResident, and the commands on them: each client sees and
# ends notebooks of its own, an operator those of all requestors.
use lib 'tests/lib';
use Paddock;
use Cli;
use Http;
use Residents;

my %token = (ada => 'a' x 43, bob => 'b' x 43);
my $d = Http->new(templates => {cells => cells()}, tokens => \%token);
my $cli = Cli->new;
my $me = "uid:$>";
my ($c, $ada, $bob) = (Client->new($d)->greeted, map { $d->client($_)->greeted } qw(ada bob));

sub paddock { return $cli->run([@_, '--socket', $d->{socket}]) }
sub rows { return $_[0]->call('paddock/residents')->{result}{residents} }
sub names { return join ' ', map { "$_->{requestor}/$_->{name}" } @{rows($_[0])} }
sub end { my ($client, %params) = @_; return $client->call('paddock/endResident', {templateId => 'cells', name => 'n', %params}) }
sub says { my ($r, $code, $re, $name) = @_;
	   is($r->{error}{data}{errorCode}, $code, $name);
	   like($r->{error}{message}, $re, "$name: the message") }

# ---- none ----

is_deeply(rows($c), [], 'there is no notebook at the start');
said(paddock('ps', '--residents'), 0, qr/\Apaddock: there are no notebooks\n\z/, 'ps --residents says that there are no notebooks');
said(paddock('notebook', 'ls', '-q'), 0, qr/\A\z/, 'notebook ls -q says nothing of no notebooks');
is(paddock('notebook', 'ls', '--json')->{out}, "[]\n", 'notebook ls --json has no rows');
says(end($c), 'NOTEBOOK_NOT_FOUND', qr/^there is no notebook "n" of cells$/, 'a notebook that is not there cannot be ended');

# ---- of one requestor ----

cell($c, '"a"');
cell($c, '"b"');
{
	until_true('the memory of the idle notebook', sub { rows($c)->[0]{memoryBytes} });
	my ($row, @more) = @{rows($c)};

	is(scalar @more, 0, 'a notebook has a row');
	is_deeply([@$row{qw(requestor templateId name state runs)}], [$me, 'cells', 'n', 'idle', 2], 'the row tells whose notebook is there, and its runs');
	cmp_ok($row->{createdAt}, '<=', $row->{lastUsedAt}, 'the times of a notebook are milliseconds, as those of runs');
	is_deeply([map { [@{rows($c)->[0]}{qw(createdAt lastUsedAt)}] } 1 .. 40], [([@$row{qw(createdAt lastUsedAt)}]) x 40], 'the times are the same at each look');
	like(paddock('ps', '--residents')->{out}, qr/\ATEMPLATE +NAME +STATE +RUNS +MEMORY +LAST USED(?: +NODE)?\ncells +n +idle +2 +\S.* ago(?: +\S+)?\n\z/, 'the table of one requestor has no column of requestors');
	is(paddock('notebook', 'ls')->{out} =~ s/\S+ +\S+ ago//r, paddock('ps', '--residents')->{out} =~ s/\S+ +\S+ ago//r, 'notebook ls is the same table');
	is_deeply([map { "$_->{requestor}/$_->{name} $_->{memoryBytes}" } @{json_to(paddock('notebook', 'ls', '--json')->{out})}], ["$me/n $row->{memoryBytes}"], '--json has the rows');
}

# ---- of several requestors ----

cell($ada, '"c"');
is(names($ada), 'ada/n', 'a client sees the notebooks of its own');
is(names($bob), '', 'a client without notebooks sees none');
is(names($c), "$me/n ada/n", 'an operator sees the notebooks of all requestors');
like(paddock('ps', '--residents')->{out}, qr/\AREQUESTOR +TEMPLATE .*^ada +cells +n +idle +1 /ms, 'the table of several requestors tells whose they are');
is($d->modern('ada')->call('paddock/residents')->{result}{residents}[0]{name}, 'n', 'a request of 2026-07-28 has the rows');

# ---- the end of one ----

is($bob->call('paddock/endResident', {templateId => 'cells', name => 'n'})->{error}{message},
   'there is no notebook "n" of cells', "another requestor's notebook is as one that is not there");
like(end($bob, requestor => 'ada')->{error}{message}, qr/^params\.requestor is for root and the user who runs this server/, 'a client may not name another requestor');
is(end($ada, requestor => 'bob', name => 'x')->{error}{code}, -32600, 'the refusal does not tell which notebooks are there');
like($c->call('paddock/endResident', {name => 'n'})->{error}{message}, qr/^paddock\/endResident needs params\.templateId and params\.name, strings$/, 'a notebook is named by template and name');
like(end($c, requestor => 7)->{error}{message}, qr/^params\.requestor has to be a string$/, 'a requestor is named by a string');
says(end($c, requestor => 'eve'), 'NOTEBOOK_NOT_FOUND', qr/^there is no notebook "n" of cells$/, 'a requestor who never came has no notebook');
says(end($c, name => "\x{e9}" x 5000), 'NOTEBOOK_NOT_FOUND', qr/^there is no notebook "\x{e9}{32}" of cells$/, 'a long name is cut in the message');
is(names($ada), 'ada/n', 'no refusal ended a notebook');

{
	my $id = $ada->run_async(cells => {notebook => 'n', do => 'sleep 600'});

	$ada->get_until($id, 'to run', sub { $_->{status} eq 'running' });
	is(rows($ada)->[0]{state}, 'running', 'a notebook with a run is running');
	says(end($ada), 'NOTEBOOK_BUSY', qr/^the notebook "n" of cells has a run under way; cancel that run, or wait for its end$/, 'a notebook with a run cannot be ended');
	said(paddock('notebook', 'rm', 'n', '--template', 'cells', '--requestor', 'ada'), 125, qr/has a run under way.*\n  code: NOTEBOOK_BUSY$/m, 'notebook rm tells of the run');
	$ada->tool(cancel_task_run => {runId => $id});
	$ada->ended($id);
}

same_json(end($ada)->{result}, {ended => \1}, 'a client ends its own notebook');
is(names($c), "$me/n", 'the notebook of the same name of another requestor stays');
like(cell($ada, '"d"')->{notebook}{why} // '', qr/ended on request/, 'the next run under the name tells that the state was ended');
said(paddock('notebook', 'rm', 'n', '--template', 'cells', '--requestor', 'ada'), 0, qr/\Apaddock: the notebook "n" of cells is ended, with all its variables and files\n\z/, 'an operator ends the notebook of another requestor');
said(paddock('notebook', 'rm', 'n', '--template', 'cells', '-q'), 0, qr/\A\z/, 'notebook rm -q says nothing');
said(paddock('notebook', 'rm', 'n'), 4, qr/\Apaddock: there is no notebook "n" of run_python\n  code: NOTEBOOK_NOT_FOUND\n\z/, 'notebook rm is about run_python unless a template is named');
is_deeply(rows($c), [], 'no notebook is left');
$d->stop;
done_testing;
