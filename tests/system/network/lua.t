#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# run.http() of Lua: granted hosts over http and https and nothing else, with rules; side by
# side, cancelled, late, endless and large; and a Lua run without network.
use lib 'tests/lib';
use Paddock;
use EgressSite;
use File::Temp qw(tempdir);

my $folder = tempdir(CLEANUP => 1);
chmod 0755, $folder;
my $ca = EgressSite::authority($folder);
my $tls = EgressSite::tls_host('127.0.0.1', EgressSite::certificate($folder, 'DNS:api.test'));
my $wrong = EgressSite::tls_host('127.0.0.1', EgressSite::certificate($folder, 'DNS:other.test'));
my $names = EgressSite::names({ 'api.test' => [ [ A => '127.0.0.1' ] ], 'other.test' => [ [ A => '127.0.0.1' ] ] });
my $big = 'x' x 10_000_000;
my $port = EgressSite::http_host('127.0.0.1', {
	'GET /big' => EgressSite::plain($big),
	'GET /never' => sub { sysread $_[0], my $byte, 1; return 0 },
	'GET /endless' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\n\r\n"; 1 while print { $_[0] } 'x' x 65536; return 0 },
	'GET /cut' => sub { print { $_[0] } "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"; return 0 },
	'GET /fields' => "HTTP/1.1 404 Not Found\r\nX-One: a\r\nX-ONE: b\r\nPaddock-Error: FORGED\r\nContent-Length: 0\r\n\r\n",
});

my $LUA = <<'LUA';
return function(run, inputs)
	local function try(request)
		local ok, r = pcall(run.http, request)
		if ok then return {status = r.status, headers = r.headers, body = #r.body > 1000 and #r.body or r.body} end
		return {code = r.code, message = r.message or tostring(r), details = r.details}
	end
	if inputs.step then
		local ok, e = pcall(run.step, "late", function() return run.http(inputs.step) end, {timeout = 200})
		return {ok = ok, code = e.code, after = try(inputs.after)}
	end
	return run.map(inputs.list, {concurrency = inputs.concurrency or 1}, try)
end
LUA
my @asks = (code => $LUA, inputsSchema => { type => 'object' });
my %templates = (
	http  => { @asks, permissions => { network => ["api.test:$port", "api.test:$tls", "api.test:$wrong"] }, limits => { maxMemoryBytes => 64 << 20 } },
	ruled => { @asks, permissions => { network => [ { host => "api.test:$port", allow => ['GET /in/*'] } ] } },
	small => { @asks, permissions => { network => ["api.test:$port"] }, limits => { maxMemoryBytes => 8 << 20 } },
	few   => { @asks, permissions => { network => ["api.test:$port"] }, limits => { maxNetworkBytes => 200_000 } },
	none  => { @asks },
);
my $CONFIG = <<"CONF";
[network]
resolver = $names
private = 127.0.0.1/32
authorities = $ca
[grant "*"]
network = api.test:$port api.test:$tls api.test:$wrong
CONF

for (users()) {
	my ($who, $uid) = @$_;
	my $s = Paddock->new(user => $uid, templates => \%templates, config => $CONFIG);
	$s->greeted;
	my $ask = sub { my ($template, @list) = @_; my $v = $s->run($template => { list => \@list })->{view};
			return map { $_->{value} // {} } @{ ref $v->{result} eq 'ARRAY' ? $v->{result} : (diag(json_of($v)), [])[1] } };
	my ($a, $b, $c) = $ask->(http => { url => "http://api.test:$port/x?y=1", headers => { 'X-Own' => 'mine' } },
		{ url => "https://api.test:$tls/x" }, { url => "http://api.test:$port/p", method => 'POST', body => 'a body' });

	is($a->{status}, 200, "$who: a granted host answers");
	like($a->{body} // '', qr{\AGET /x\?y=1 HTTP/1\.1\r\n.*^X-Own: mine\r\n}ms, "$who: the host gets the request with its headers") or diag(json_of($a));
	is($b->{status}, 200, "$who: a granted host answers over https") or diag(json_of($b));
	like($c->{body} // '', qr{\APOST /p .*a body\z}s, "$who: the host gets the body") or diag(json_of($c));

	($a, $b, $c) = $ask->(http => { url => "http://other.test:$port/" }, { url => "https://api.test:$wrong/" }, { url => "http://api.test:$port/fields" });
	is($a->{code}, 'NETWORK_NOT_GRANTED', "$who: another host is refused") or diag(json_of($a));
	is($a->{details}{grant}, "network = other.test:$port", "$who: the refusal has the line that grants the host") or diag(json_of($a));
	is($b->{code}, 'NETWORK_CERTIFICATE', "$who: a host with a wrong certificate is not asked") or diag(json_of($b));
	is_deeply([ $c->{status}, $c->{headers}{'x-one'}, $c->{headers}{'paddock-error'} ], [ 404, 'a, b', undef ],
		"$who: any status of a host is an answer, and headers have small letters") or diag(json_of($c));

	($a, $b) = $ask->(ruled => { url => "http://api.test:$port/in/x" }, { url => "http://api.test:$port/out" });
	is_deeply([ $a->{status}, $b->{code} ], [ 200, 'NETWORK_RULE' ], "$who: rules hold") or diag(json_of([ $a, $b ]));

	my $v = $s->run(http => { concurrency => 8, list => [ map { { url => "http://api.test:$port/$_" } } 1 .. 24 ] })->{view};
	is_deeply([ map { $_->{value}{body} =~ m{\AGET /(\d+) } } @{ $v->{result} } ], [ 1 .. 24 ], "$who: each of 24 calls of a map, 8 at a time, gets its own answer")
	    or diag(json_of($v));

	($a, $b, $c) = $ask->(http => { url => "http://api.test:$port/big" }, { url => "http://api.test:$port/cut" }, { url => "http://api.test:$port/never", timeout => 200 });
	is($a->{body}, 10_000_000, "$who: a body of 10 MB arrives whole") or diag(json_of($a));
	is($b->{code}, 'NETWORK_BAD_ANSWER', "$who: a cut answer is an error");
	is($c->{code}, 'NETWORK_TIMEOUT', "$who: a host that is silent is given up in time") or diag(json_of($c));
	($a) = $ask->(small => { url => "http://api.test:$port/big" });
	is($a->{code}, 'RESOURCE_LIMIT', "$who: a body that is larger than the run's memory is an error") or diag(json_of($a));
	($a, $b) = $ask->(few => { url => "http://api.test:$port/endless" }, { url => "http://api.test:$port/x" });
	is_deeply([ $a->{code}, $b->{code} ], [ 'NETWORK_LIMIT_BYTES', 'NETWORK_LIMIT_BYTES' ], "$who: an endless answer ends at maxNetworkBytes") or diag(json_of([ $a, $b ]));

	$v = $s->run(http => { step => { url => "http://api.test:$port/never", timeout => 1000 }, after => { url => "http://api.test:$port/x" } })->{view};
	is_deeply([ $v->{result}{ok}, $v->{result}{code}, $v->{result}{after}{status} ], [ $JSON::PP::false, 'STEP_TIMEOUT', 200 ],
		"$who: a step's timeout ends a call, and the next call has its own answer") or diag(json_of($v));

	my $run = $s->run_async(http => { list => [ { url => "http://api.test:$port/never" } ] });
	$s->log_has(qr/run=$run event=start/);
	$s->tool(cancel_task_run => { runId => $run });
	is($s->ended($run)->{status}, 'canceled', "$who: a run that waits for a host is cancelled");

	($a) = $ask->(none => { url => "http://api.test:$port/x" });
	is($a->{code}, 'NETWORK_NOT_GRANTED', "$who: a run without network is told so") or diag(json_of($a));
	my @wrong = $ask->(http => { url => 'ftp://api.test/' }, { url => "http://api.test:$port/a b" }, { url => "http://api.test:$port/", method => 'GET / HTTP/1.1' },
		{ url => "http://api.test:$port/", headers => { Host => 'x' } }, { url => "http://api.test:$port/", headers => { 'X' => "a\r\nY: b" } },
		{ url => "http://api.test:$port/", redirects => 3 });
	is(scalar(grep { ($_->{message} // '') =~ /run\.http/ } @wrong), 6, "$who: wrong options are errors of the call") or diag(json_of(\@wrong));
	$s->stop("$who: the server ends and leaves nothing behind");
}
done_testing;
