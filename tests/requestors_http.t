#!/usr/bin/perl
# Requestors by their tokens: limits, isolation, and what a reload changes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Http qw(sha256_hex);
use Paddock;
use Test::More;

my %templates = (
    echo => lua('return inputs'),
    doze => lua('run.progress(0, 1, "dozing") while true do run.sleep(60000) end',
		limits => {maxTimeoutMs => 600000}),
    near => lua('return 1', trustLevelSupport => ['local']),
);
my %token = (alice => 'a' x 43, bob => 'b' x 43, new => 'c' x 43);

sub section { my ($name, $token, $more) = @_;
	      return "[requestor \"$name\"]\ntoken_sha256 = " .
		  sha256_hex($token{$token}) . "\n" . ($more // '') }

# Does TOKEN open anything at all?
sub status_of {
	my ($s, $token) = @_;

	return $s->fetch('POST', '/mcp', {
		'Content-Type' => 'application/json',
		Accept => 'application/json, text/event-stream',
		$token ? (Authorization => "Bearer $token") : ()},
	    json_of({jsonrpc => '2.0', id => 1, method => 'initialize', params => {
		protocolVersion => '2025-11-25', capabilities => {},
		clientInfo => {name => 'test', version => '1'}}}))->{status};
}

{
	my $s = Http->new(templates => \%templates, config =>
			  section('alice', 'alice', "max_concurrent_runs = 1\n") .
			  section('bob', 'bob', "trust_level = local\n"));
	$s->{tokens} = \%token;
	my ($alice, $bob) = map { $s->client($_)->greeted } qw(alice bob);
	my %trust = map { $_->tool('get_runtime_profile')->{view}{requestor} =>
			  $_->tool('get_runtime_profile')->{view}{trustLevel} }
	    $alice, $bob;

	same_json(\%trust, {alice => 'remote', bob => 'local'},
		  'who asks is the token\'s owner, trusted as its section says');
	refused($alice->run('near'), 'TRUST_LEVEL_NOT_ALLOWED',
		'one of them is held to that');
	is($bob->run_sync('near')->{result}, 1, 'the other is not');
	is(status_of($s), 401, 'no token is nobody\'s');
	is(status_of($s, 'd' x 43), 401, 'and so is an unknown one');
	is(status_of($s, sha256_hex($token{alice})), 401, 'and a digest');

	my $run = $alice->run_async('doze');
	$alice->saying($run, 'dozing');
	my ($foreign, $unknown) = map {
		$bob->tool(get_task_run => {runId => $_})->{raw} =~ s/$_/ID/gr =~
		    s/"id":\d+/"id":0/r } $run, 'run_' . 'a' x 26;
	is($foreign, $unknown, 'another\'s run is as an unknown one');
	my $session = $bob->{session};
	$bob->{session} = $alice->{session};
	is($bob->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response->{status},
	   404, 'and another\'s session likewise');
	$bob->{session} = $session;

	# ---- a token is replaced, a section removed ----

	my $stream = $alice->listen;
	my $bobs = $bob->listen;
	$s->write_config(section('alice', 'new') .
			 section('bob', 'bob', "trust_level = local\n"));
	is($s->reload, 'done', 'a token is replaced');
	1 while $stream->more;
	ok($stream->{done}, 'streams that the old one opened end');
	is(status_of($s, $token{alice}), 401, 'it is unknown at once');
	is($alice->post({jsonrpc => '2.0', id => 1, method => 'ping'})->response->{status},
	   401, 'in its session, too');
	is_deeply($bob->call('ping')->{result}, {}, 'others notice nothing');
	my $again = $s->client('new')->greeted;
	is($again->get($run)->{status}, 'running', 'by the new one the run is found');

	$s->write_config(section('bob', 'bob', "rate_per_second = 1\nburst = 30\n"));
	is($s->reload, 'done', 'a section is removed');
	is(status_of($s, $token{new}), 401, 'its token is unknown');
	$s->signal('USR1');
	ok($s->log_has(qr/requestor=alice status=gone running=1 /),
	   'what it had begun goes on');

	# ---- rates ----

	is($bob->tool('get_runtime_profile')->{view}{trustLevel}, 'remote',
	   'trust can be withdrawn');
	my @all = map { $bob->request('tools/list') } 1 .. 60;
	my ($refused) = grep { $_->[0]{error} }
	    map { [$bob->answer($_), $bob->{last}] } @all;
	is($refused->[0]{error}{code}, -32010, 'too many requests are refused');
	is($refused->[1]{status}, 429, 'as HTTP says it');
	like($refused->[1]{headers}{'retry-after'}, qr/^[1-9]\d*$/,
	     'with Retry-After');
	is_deeply($bob->call('ping')->{result}, {}, 'pings are not');
	$s->stop(undef, 'QUIT'); # with that run
}

# ---- with the first token nobody comes without ----

{
	my $s = Http->new(templates => \%templates, config => "[limits]\n");
	my $c = $s->client->greeted;
	my $v = $c->tool('get_runtime_profile')->{view};

	same_json([@$v{qw(requestor trustLevel)}], ['anonymous', 'remote'],
		  'without any token configured all are anonymous');
	my $stream = $c->listen;
	$s->write_config(section('bob', 'bob'));
	is($s->reload, 'done', 'one is configured');
	1 while $stream->more;
	ok($stream->{done}, 'streams of who had none end');
	is(status_of($s), 401, 'and nobody comes without');
	is(status_of($s, $token{bob}), 200, 'but with it');
	$s->stop;
}

done_testing;
