#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Programs with network reach the hosts that are granted and nothing else, by the clients that
# people use; each refusal is loud: in the answer, the run's record, the log and the audit log.
use lib 'tests/lib';
use Paddock;
use EgressSite;
use Needs;

my %zone = map { ("$_.test" => [['A', '127.0.0.1']]) } qw(api other a.deep);
$zone{'elsewhere.test'} = [['A', '127.9.9.9']];
my $names = EgressSite::names(\%zone);
pipe my $asked, my $asks or die "pipe: $!\n";
my $port = EgressSite::http_host('127.0.0.1', {
	'GET /long' => EgressSite::plain('x' x 3_000_000),
	# no answer, until the client has gone
	'GET /never' => sub { syswrite $asks, 'x'; sysread $_[0], my $byte, 1; return 0 },
});
my $closed = 1; # nothing listens there

my $PYTHON = <<'PY';
#!/usr/bin/python3
import json, sys, urllib.request, urllib.error
out = {}
for url in json.load(sys.stdin)["urls"]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=None), timeout=60) as r:
            out[url] = [r.status, r.read().decode()]
    except urllib.error.HTTPError as e:
        out[url] = [e.code, e.read().decode()]
    except Exception as e:
        out[url] = [0, str(e)]
print(json.dumps(out))
PY

# A client by the name of the program, with the arguments before the URL.
sub shell {
	my ($client) = @_;

	return <<"SH";
#!/usr/bin/perl
use JSON::PP;
my \$in = decode_json(join '', <STDIN>);
my %out;
for my \$url (\@{\$in->{urls}}) {
	my \$said = `$client '\$url' 2>said`;
	\$out{\$url} = [\$? >> 8, \$said];
}
print encode_json(\\%out);
SH
}

my $NODE = <<'JS';
#!/usr/bin/node
const {urls} = JSON.parse(require('fs').readFileSync(0));
(async () => {
  const out = {};
  for (const url of urls) {
    try { const r = await fetch(url); out[url] = [r.status, await r.text()]; }
    catch (e) { out[url] = [0, String(e.cause ?? e)]; }
  }
  console.log(JSON.stringify(out));
})();
JS

# Does Node.js use the variables of proxies?
sub has_proxies { return system(q(node -e 'process.exit(process.allowedNodeEnvironmentFlags.has("--use-env-proxy") ? 0 : 1)')) == 0 }

my @asks = (permissions => {network => ["api.test:$port", '*.deep.test:' . $port, "elsewhere.test:$port", "gone.test:$port", "api.test:$closed"]},
	    inputsSchema => {type => 'object'}, limits => {maxProcesses => 64, maxMemoryBytes => 512 << 20});
my %templates = (
	python => {program => $PYTHON, @asks},
	curl   => {program => shell('curl -s -m 60'), @asks},
	wget   => {program => shell('wget -q -O - -T 60 -t 1'), @asks},
	# the proxy's variables are for all children
	node   => {program => $NODE, @asks, limits => {maxProcesses => 64, maxMemoryBytes => 1 << 30}},
	none   => {program => "#!/usr/bin/perl\nprint '{\"proxies\": ', scalar(grep { /prox/i } keys %ENV), '}';\n"},
	greedy => {program => $PYTHON, @asks, permissions => {network => ["other.test:$port"]}},
	small  => {program => $PYTHON, @asks, limits => {maxNetworkBytes => 100_000}},
);
my $CONFIG = <<"CONF";
[limits]
max_memory_bytes = 1G
[network]
resolver = $names
private = 127.0.0.1/32
[grant "*"]
network = api.test:$port *.deep.test:$port elsewhere.test:$port gone.test:$port api.test:$closed
CONF

sub host_of { my ($v, $host) = @_; return (grep { $_->{host} eq $host } @{$v->{network}{hosts}})[0] // {} }

for (users()) {
	my ($who, $uid) = @$_;
	my $s = Paddock->new(user => $uid, templates => \%templates, config => $CONFIG);
	$s->greeted;

	for my $client (grep { !lacks($_ eq 'python' ? 'python3' : $_) && ($_ ne 'node' || has_proxies()) } qw(python curl wget node)) {
		my ($good, $below, $bad) = ("http://api.test:$port/x?y=1", "http://a.deep.test:$port/z", "http://other.test:$port/x");
		my $v = $s->run($client => {urls => [$good, $below, $bad]})->{view};
		my $out = $v->{result} // {};

		like($out->{$good}[1] // '', qr{\AGET /x\?y=1 HTTP/1.1\r\n.*Host: api\.test}si, "$who: $client reaches a granted host")
		    or diag(json_of($v));
		like($out->{$below}[1] // '', qr{\AGET /z }, "$who: $client reaches a name below a granted one");
		unlike($out->{$bad}[1] // '', qr{\AGET}, "$who: $client does not reach a host that is not granted");
		is(host_of($v, "other.test:$port")->{refusals}[0]{code}, 'NETWORK_NOT_GRANTED', "$who: the record of $client has the refusal");
		is(host_of($v, "api.test:$port")->{requests}, 1, "$who: the record of $client has the request");
	}
	my $v = $s->run(python => {urls => [map { "http://$_/" } "other.test:$port", "elsewhere.test:$port", "gone.test:$port", "127.0.0.1:$port", "api.test:$closed"]})->{view};
	my %code = map { $_->{host} => $_->{refusals}[0]{code} } @{$v->{network}{hosts}};
	is_deeply(\%code, {"other.test:$port" => 'NETWORK_NOT_GRANTED', "elsewhere.test:$port" => 'NETWORK_ADDRESS',
			   "gone.test:$port" => 'NETWORK_NO_SUCH_NAME', "127.0.0.1:$port" => 'NETWORK_NOT_GRANTED',
			   "api.test:$closed" => 'NETWORK_UNREACHABLE'}, "$who: each refusal has its reason") or diag(json_of($v));
	like($v->{result}{"http://other.test:$port/"}[1] // '', qr/"grant":\s*"network = other\.test:$port"/, "$who: the answer has the line that grants the host");
	like($s->log_text, qr/part=network run=\S+ requestor=\S+ template=python host="other\.test" port=$port refused=NETWORK_NOT_GRANTED grant="\[grant \\"python\\"\] network = other\.test:$port"/,
	     "$who: the log has the refusal and the line");

	$v = $s->run(python => {urls => ["http://api.test:$port/long"]})->{view};
	is(length($v->{result}{"http://api.test:$port/long"}[1] // ''), 3_000_000, "$who: a long body arrives whole");
	cmp_ok($v->{network}{bytesDown}, '>=', 3_000_000, "$who: the record has the bytes");
	$v = $s->run(small => {urls => ["http://api.test:$port/long", "http://api.test:$port/x"]})->{view};
	cmp_ok($v->{network}{bytesDown} // 0, '<', 400_000, "$who: a run receives no more than maxNetworkBytes, or not much");
	ok((grep { ($_->{limit} // '') eq 'network_bytes' } @{$v->{limitsMet} // []}), "$who: the limit is among the limits that the run met")
	    or diag(json_of($v));

	my $run = $s->run_async(python => {urls => ["http://api.test:$port/never"]});
	is(sysread($asked, my $byte, 1), 1, "$who: the host was asked");
	my ($egress) = $s->log_text =~ /part=egress pid=(\d+) started/;
	kill KILL => $egress;
	$v = $s->ended($run);
	is($v->{error}{errorCode}, 'NETWORK_LOST', "$who: a run fails when paddock-egress ends") or diag(json_of($v));
	$v = $s->run(python => {urls => ["http://api.test:$port/x"]})->{view};
	is($v->{result}{"http://api.test:$port/x"}[0], 200, "$who: paddock-egress is started again for the next run") or diag(json_of($v));

	is_deeply($s->run(none => {})->{view}{result}, {proxies => 0}, "$who: a program without network has no variable of a proxy");
	my $refused = $s->run(greedy => {urls => []});
	refused($refused, 'PERMISSION_NOT_ALLOWED', "$who: a template that asks for more than is granted is not run");
	like($refused->{view}{error}, qr/by network = other\.test:$port in \[grant "greedy"\] of paddock\.conf/, "$who: the refusal has the line of the grant");
	$s->stop("$who: the server ends and leaves nothing behind");
}

done_testing;
