#!/usr/bin/perl
# Streamable HTTP: sessions, answers, streams, and who may come.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Http;
use Paddock;
use Test::More;

my $templates = {
	echo => lua('return inputs'),
	steps => lua('for i = 1, 3 do run.progress(i, 3) run.sleep(30) end
		      return {done = true}'),
	later => lua('run.sleep(50) return {late = true}', stream => 'poll'),
};

{
	my $s = Http->new(templates => $templates);
	my $c = $s->client;
	my $r = $c->init;

	is($r->{protocolVersion}, '2025-11-25', 'initialize is answered');
	is($c->{last}{status}, 200, 'with 200');
	like($c->{last}{headers}{'content-type'}, qr{^application/json$},
	     'and JSON');
	like($c->{session}, qr/^[\x21-\x7e]{22,}$/,
	     'MCP 37: initialize gives a session id of visible characters');
	is($c->notify('notifications/initialized'), 202,
	   'MCP 31: a notification gets 202');
	is_deeply($c->call('ping')->{result}, {}, 'ping');
	ok((grep { $_->{name} eq 'echo' }
	    @{$c->call('tools/list')->{result}{tools}}), 'tools/list');
	is($c->{last}{headers}{'content-type'}, 'application/json',
	   'what is quick is answered by JSON');
	is_deeply($c->tool(echo => {a => 1})->{view}, {a => 1}, 'tools/call');
	$r = $c->tool(steps => {}, {progressToken => 't'});
	is_deeply($r->{view}, {done => true}, 'a longer call');
	like($c->{last}{headers}{'content-type'}, qr{^text/event-stream},
	     'is answered by a stream');
	ok(scalar $c->progress_of('t'), 'which brings progress, too');
	is($c->end, 204, 'DELETE ends the session');
	is($c->post({jsonrpc => '2.0', id => 9, method => 'ping'})
	   ->response->{status}, 404, 'MCP 37: which is unknown from then on');
	$s->stop;
}

# A template whose answer is to be fetched.
{
	my $s = Http->new(templates => $templates);
	my $c = $s->client->greeted;
	my $other = $c->listen;
	my $conn = $c->route($c->ask(later => {}));

	$conn->head;
	like($conn->{headers}{'content-type'}, qr{^text/event-stream},
	     '"stream": "poll" is answered by a stream');
	my $first = $conn->event;
	is($first->{data}, '', 'which says where to go on');
	like($first->{retry}, qr/^\d+$/, 'and when');
	is($conn->event, undef, 'and ends');

	my $again = $c->listen($first->{id});

	is_deeply($again->message->{json}{result}{structuredContent},
		  {late => true}, 'Last-Event-ID has the answer');
	is($again->event, undef, 'and ends, too');
	$other->hang_up;

	my $old = $s->client;

	$old->init('2025-06-18');
	is_deeply($old->tool(later => {})->{view}, {late => true},
		  'a client that cannot come back is not sent away');
	$s->stop;
}

done_testing;
