#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# TERM loses no answer: waiting clients are answered before the end, in each transport and
# era; a task is executed once, by the next server.
use lib 'tests/lib';
use Paddock;
use Http;

my %templates = (echo => lua('return inputs'), nap => lua('run.sleep(inputs.ms) return 1'));

sub server { return Http->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 1\n$_[0]") }

# Calls which wait behind a running call: name => [client, id].
sub wait_behind {
	my ($s, $ms) = @_;
	my $busy = $s->client;

	$busy->init;
	my %waits = (running => [$busy, $busy->ask_run(nap => {ms => $ms}, mode => 'sync')]);
	$s->log_has(qr/run=run_\w+ pid=/);
	my $line = Daemon::client($s)->greeted;
	$waits{'lines'} = [$line, $line->ask_run(echo => {n => 'lines'}, mode => 'auto')];
	$waits{'lines, sync'} = [$line, $line->ask_run(echo => {n => 'sync lines'}, mode => 'sync')];
	my $session = $s->client;
	$session->init;
	$waits{'a session'} = [$session, $session->ask_run(echo => {n => 'session'}, mode => 'auto')];
	my $own = $s->client;
	$own->init;
	$waits{'a tool of its own'} = [$own, $own->ask(echo => {n => 'own'})];
	for my $mode (qw(auto sync)) {
		my $modern = $s->modern;
		$waits{"modern $mode"} = [$modern, $modern->ask_run(echo => {n => "modern $mode"}, mode => $mode)];
	}
	$line->call('ping');
	until_true('all to wait', sub {
		$s->client->init; # no look is cheaper over HTTP
		$s->signal('USR1');
		$s->log_has(qr/status=serving/);
		($s->log_text =~ /status=serving running=1 queued=(\d+)/g)[-1] == 6 });
	return %waits;
}

{
	my $s = server('');
	my %waits = wait_behind($s, 3000);

	$s->signal('TERM');
	my %got = map { my ($c, $id) = @{$waits{$_}}; $_ => $c->result($id) } keys %waits;
	is($got{running}{view}{result}, 1, 'what runs is waited for');
	for ('lines', 'a session', 'a tool of its own', 'modern auto') {
		like($got{$_}{view}{runId} // '', qr/^run_/, "$_: who waits for its turn has a handle") or diag json_of($got{$_});
		like(json_of($got{$_}), qr/the next server has it/, "$_: the answer says that the next server has the run");
	}
	for ('lines, sync', 'modern sync') {
		my $e = $got{$_}{view}{error} // {};
		is($e->{errorCode}, 'RUN_INTERRUPTED', "$_: who can have none is told that it is interrupted");
		like($got{$_}{view}{runId} // $e->{details}{runId} // '', qr/^run_/, "$_: the answer has the id of the run");
	}
	$s->stop;
	my $next = $s->again(listen => '127.0.0.1:0');
	my $c = Daemon::client($next)->greeted;
	is($c->ended($got{lines}{view}{runId})->{result}{n}, 'lines', 'the next server does it');
	my %n;
	for my $name ('a session', 'a tool of its own', 'modern auto') {
		my $http = $next->client;
		$http->init;
		my $v = until_true('the end', sub { my $v = $http->get($got{$name}{view}{runId}); $v->{status} eq 'succeeded' ? $v : undef });
		$n{$name} = $v->{result}{n};
	}
	is_deeply(\%n, {'a session' => 'session', 'a tool of its own' => 'own', 'modern auto' => 'modern auto'}, 'each of them, once');
	$next->stop;
}

{
	my $s = server("drain_timeout_ms = 100\n");
	my $c = $s->client;

	$c->init;
	my $id = $c->ask_run(nap => {ms => 60000}, mode => 'sync');
	$s->log_has(qr/run=run_\w+ pid=/);
	$s->signal('TERM');
	is($c->result($id)->{view}{error}{errorCode}, 'RUN_INTERRUPTED', 'who waits for what runs too long is told, too');
	$s->stop;
}
# Over stdio TERM ends running calls; waiting clients are told.
for my $mode (qw(auto sync)) {
	my $s = Paddock->new(templates => \%templates, config => "[limits]\nmax_concurrent_runs = 1\n")->greeted;
	my %asked = (running => $s->ask_run(nap => {ms => 60000}, mode => $mode));

	$s->log_has(qr/run=run_\w+ pid=/);
	$asked{'in line'} = $s->ask_run(echo => {n => 1}, mode => $mode);
	$asked{'a tool of its own'} = $s->ask(echo => {n => 2});
	$s->call('ping');
	kill TERM => $s->{pid};
	for (sort keys %asked) {
		my $v = $s->result($asked{$_})->{view};

		like(json_of($v), qr/"errorCode":"RUN_INTERRUPTED"/, "stdio, $mode, $_: who waits is told that the server ended it");
	}
	$s->stop;
}
done_testing;
