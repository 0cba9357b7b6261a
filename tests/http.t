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

done_testing;
