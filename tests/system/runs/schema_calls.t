#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Calls whose inputs, and runs whose outputs, are checked on a thread: cancels,
# deduplication, drain and answers work as for other calls.
use lib 'tests/lib';
use Paddock;
use Daemon;
use File::Path ();

my $at = '#/properties/v/$defs/n';
my $branch = {properties => {a => {'$ref' => $at}}, not => {}};
my $never = {type => 'object', properties => {v => {
	'$ref' => $at, '$defs' => {n => {anyOf => [$branch, $branch, $branch]}}}}};
my $long = {type => 'object', properties => {v => {items => {
	allOf => [({type => 'integer'}) x 20]}}}};
my $deep = {};
$deep = {a => $deep} for 1 .. 14;
my $many = [(1) x 3_000]; # a message that is parsed on the loop
my %templates = (
	never => lua('return {}', inputsSchema => $never),
	long => lua('return {n = #inputs.v}', inputsSchema => $long),
	gives => lua('return inputs', outputsSchema => $never),
);

sub runs { scalar @{$_[0]->tool('list_task_runs')->{view}{runs} // []} }

sub jobs {
	my ($s) = @_;
	my $before = () = $s->log_text =~ /part=offload/g;

	kill USR1 => $s->{pid};
	my $n = until_true('a line of status', sub {
		my @all = $s->log_text =~ /part=offload jobs=(\d+)/g;

		return @all > $before ? "=$all[-1]" : undef;
	});
	return substr $n // '=0', 1;
}

{
	my $s = Paddock->new(templates => \%templates)->greeted;
	my @ids = map { $s->ask(never => {v => $deep}) } 1 .. 3;
	$s->notify('notifications/cancelled', {requestId => $_}) for @ids[0, 1];
	my $r = $s->result($ids[2]);

	is($r->{view}{errorCode}, 'RESOURCE_LIMIT',
	   'of three calls whose check never ends one is given up');
	is($s->{answers}{$_}, undef, '  a cancelled call has no answer')
	    for @ids[0, 1];
	is(runs($s), 0, '  none of them has run');
	like($r->{view}{details}{schema}, qr{^/inputsSchema/properties/v/\$defs/n/anyOf},
	     '  the place in the schema is named');
	is($r->{view}{details}{pointer}, '', '  beside the value\'s');

	# the same key twice at once
	@ids = map { $s->ask_run(long => {v => $many}, idempotencyKey => 'k') } 1 .. 2;
	my @both = map { $s->result($_)->{view} } @ids;

	is($both[0]{runId}, $both[1]{runId}, 'a key given twice makes one run');
	is($both[1]{deduplicated}, true, '  the second of two calls with one key says deduplicated');
	same_json($both[0]{result}, {n => 3000}, '  the run of two calls with one key has the inputs');

	# behind long checks
	@ids = map { $s->ask(never => {v => $deep}) } 1 .. 8;
	my $run = $s->run_async('gives', {v => $deep});

	until_true('its worker to go', sub { jobs($s) == 9 || !jobs($s) });
	is($s->get($run)->{status}, 'running',
	   'a run whose output waits to be checked goes on');
	$s->tool(cancel_task_run => {runId => $run});
	$s->notify('notifications/cancelled', {requestId => $_}) for @ids;
	is($s->ended($run)->{status}, 'canceled', '  the run of two calls with one key can be cancelled');
	my $end = $s->ended($s->run_async('gives', {v => $deep}));

	is($end->{error}{errorCode}, 'RESOURCE_LIMIT',
	   'another ends by what its schema costs') or diag(json_of($end));
	same_json($s->run_sync('gives', {v => 1})->{result}, {v => 1},
		  '  a run whose schema is cheap succeeds');
	$s->stop;
}
{
	my $s = Daemon->new(templates => \%templates);
	my $c = $s->client->greeted;
	my $other = $s->client->greeted;

	$c->ask(never => {v => $deep}) for 1 .. 3;
	until_true('the calls to be there', sub { jobs($s) > 0 });
	$c->hang_up;
	until_true('what its client left to be given up', sub { jobs($s) == 0 });
	is(jobs($s), 0, 'the checks of a client that is gone are');
	ok($other->call('ping')->{result}, '  other clients are served after the checks were given up');

	# templates removed meanwhile
	my @first = map { $other->ask(never => {v => $deep}) } 1 .. 6;
	my $id = $other->ask(long => {v => $many});

	$other->flush;
	until_true('the call to be there', sub { jobs($s) == 7 });
	File::Path::remove_tree("$s->{root}/templates/long-1.0.0");
	is($s->reload, 'done', 'a template is taken away while inputs are checked');
	my $r = $other->result($id);

	ok($r->{content}, '  a call goes on with the template that was removed') or diag(json_of($r));
	ok(!$other->call('tools/call', {name => 'long', arguments => {v => []}})->{result},
	   '  a removed template is not found by the next call');

	$other->result($_) for @first;

	# HUPs in a row: the last is heard
	my $already = () = $s->log_text =~ /reload=/g;

	$s->signal('HUP') for 1 .. 20;
	write_file("$s->{root}/templates/late-1.0.0/template.json", json_of({
		templateId => 'late', version => '1.0.0', name => 'l',
		description => 'd', runtime => {type => 'lua', entry => 'main.lua'},
		inputsSchema => {type => 'object'}}));
	write_file("$s->{root}/templates/late-1.0.0/main.lua",
		   "return function() return {} end\n");
	$s->signal('HUP');
	ok(until_true('the last reload', sub {
		$other->tool(late => {})->{structuredContent} }),
	   'of many HUPs at once the last is heard');

	$id = $other->ask(never => {v => $deep});
	until_true('its check', sub { jobs($s) > 0 });
	$s->signal('TERM');
	is($other->result($id)->{view}{errorCode}, 'RESOURCE_LIMIT',
	   'a drain waits for what is checked');
	$s->stop;
}
{
	my $s = Daemon->new(templates => \%templates, config =>
			    "[requestor \"me\"]\nuid = $>\ncpu_seconds_per_hour = 1\n");
	my $c = $s->client->greeted;
	my ($n, $r) = (0);

	do {
		$r = $c->tool(never => {v => $deep})->{view};
	} while ($r->{errorCode} eq 'RESOURCE_LIMIT' && ++$n < 1000);
	is($r->{errorCode}, 'QUOTA_EXCEEDED',
	   'checks have CPU time of their requestor, until it has none left');
	is($r->{details}{limit}, 'cpu_seconds_per_hour', '  the refusal for costly checks names cpu_seconds_per_hour');
	cmp_ok($n, '>', 0, '  not at once');
	$c->hang_up;
	$s->stop;
}
done_testing;
