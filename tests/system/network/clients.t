#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Clients that people use, in a program with network, by https: git, pip, npm, wget, curl,
# Python's requests and httpx, Node.js, a websocket; through tunnels, and where rules of method
# and path hold, so that TLS ends in paddock-egress.
use lib 'tests/lib';
use Paddock;
use EgressSite;
use File::Temp ();
use Needs;

my $WHY_NOT = lacks('git', 'openssl', 'python3');
plan(skip_all => $WHY_NOT) if $WHY_NOT;

my $folder = File::Temp->newdir;
chmod 0755, $folder; # paddockd may be another user
my $authority = EgressSite::authority($folder);
my $pem = EgressSite::certificate($folder, join ',', map { "DNS:$_.test" } qw(open ruled code));
my $repository = "$folder/acme/tool.git";
my $work = "$folder/first";
my $AS = '-c user.name=tests -c user.email=tests@example.org -c init.defaultBranch=main';

sub quietly { system("($_[0]) >/dev/null 2>&1") == 0 or die "$_[0]: $?\n" }
quietly("git $AS init --bare $repository && git $AS init $work && cd $work && echo whole >file && git add file && git $AS commit -m first && git push $repository HEAD:main");

my $port = EgressSite::python_host('tests/system/network/site.py', '127.0.0.1', $pem, $folder);
my $names = EgressSite::names({map { ("$_.test" => [['A', '127.0.0.1']]) } qw(open ruled code)});
my ($open, $ruled, $code) = map { "$_.test:$port" } qw(open ruled code);

# Does each command in turn; what was said, and the exit status.
my $SHELL = <<'PL';
#!/usr/bin/perl
use JSON::PP;
my $in = decode_json(join '', <STDIN>);
my %out;
$ENV{HOME} = '/work';
chdir '/work';
for my $c (@{$in->{commands}}) {
	my $said = `($c->[1]) 2>&1 </dev/null`;
	$out{$c->[0]} = {status => $? >> 8, said => $said};
}
print encode_json(\%out);
PL

my $SOCKET = <<'PY';
import http.client, ssl, sys
c = http.client.HTTPSConnection("127.0.0.1", 3128, timeout=60)
host, port = sys.argv[1].split(":")
c.set_tunnel(host, int(port))
c.request("GET", "/socket", headers={"Connection": "Upgrade", "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})
r = c.getresponse()
print(r.status)
if r.status == 101:
    c.sock.sendall(b"\x81\x85\0\0\0\0hello")
    print(c.sock.recv(100)[2:].decode())
PY

my $NODE_PROXY = 'node -e \'process.exit(process.allowedNodeEnvironmentFlags.has("--use-env-proxy") ? 0 : 1)\'';
# GnuTLS sends by sendmsg(2), which could leave descriptors in flight and is refused to programs.
my $WGET_LACKS = `wget --version 2>&1` =~ m{\+ssl/gnutls} ? 'this wget has GnuTLS, which needs sendmsg(2)' : undef;
my @commands; # [name, command, what is said, what is missing]

sub client { push @commands, [@_] }

for my $host ($open, $ruled) {
	my $url = "https://$host/read/x?y=1";
	my $way = $host eq $open ? 'a tunnel' : 'rules';
	my $seen = qr{GET /read/x\?y=1 0};

	client("curl, $way", "curl -sS '$url'", $seen, lacks('curl'));
	client("wget, $way", "wget -nv -O - -t 1 '$url'", $seen, lacks('wget') // $WGET_LACKS);
	client("urllib, $way", "/usr/bin/python3 -c 'import urllib.request as u; print(u.urlopen(\"$url\").read())'", $seen);
	for my $module (qw(requests httpx)) {
		my $absent = system("/usr/bin/python3 -c 'import $module' 2>/dev/null") != 0;
		client("$module, $way", "/usr/bin/python3 -c 'import $module; print($module.get(\"$url\").text)'", $seen,
		       $absent ? "there is no python3-$module here" : undef);
	}
	client("fetch of Node.js, $way", "node -e 'fetch(\"$url\").then(r => r.text()).then(console.log)'", $seen,
	       lacks('node') // (system($NODE_PROXY) ? 'this Node.js reads no variable of a proxy' : undef));
}
client('a chunked body', "head -c 300000 /dev/zero | curl -sS -T - https://$open/put", qr{PUT /put 300000});
client('a chunked body, rules', "head -c 300000 /dev/zero | curl -sS -T - https://$ruled/put", qr{PUT /put 300000});
client('a method without a rule', "curl -sS -d x https://$ruled/read/x", qr{"NETWORK_RULE"});
client('a path without a rule', "curl -sS https://$ruled/other", qr{"NETWORK_RULE"});
client('pip', "/usr/bin/python3 -m pip install -q --disable-pip-version-check --no-cache-dir -t lib -i https://$ruled/simple/ paddock_tiny && /usr/bin/python3 -c 'import sys; sys.path.insert(0, \"lib\"); import paddock_tiny; print(paddock_tiny.said)'",
       qr{from the index}, lacks('pip'));
client('npm', "mkdir n && cd n && echo {} >package.json && npm install --no-audit --no-fund --registry https://$ruled/npm/ paddock_tiny && node -p 'require(\"paddock_tiny\")'",
       qr{from the registry}, lacks('npm'));
client('git clone', "git clone -q https://$code/acme/tool.git got && cat got/file", qr{^whole$}m);
client('git push where cloning alone is granted', "cd got && git push https://$code/acme/tool.git HEAD:stolen", qr{403});
client('git clone of what is not granted', "git clone -q https://$code/other/tool.git no", qr{403});
client('git push', "cd got && echo more >file && git $AS commit -qam second && git push -q https://$ruled/acme/tool.git HEAD:pushed-\$(mktemp -u XXXXXXXX) && echo done", qr{^done$}m);
client('a websocket', "/usr/bin/python3 talk.py $open", qr{^101\nHELLO$}m);
client('a websocket, rules', "/usr/bin/python3 talk.py $ruled", qr{^502$}m);

my @network = ($open, "git+https://$code/acme/*",
	       "$ruled=" . join ',', 'GET:/read/*', 'PUT:/put', 'GET:/simple/*', 'GET:/files/*', 'GET:/npm/*', 'GET:/socket',
	       map { "$_:/acme/*" } qw(GET POST));

for (users()) {
	my ($who, $uid) = @$_;
	my $s = Paddock->new(user => $uid, config => <<"CONF", templates => {
[limits]
max_memory_bytes = 2G
[network]
resolver = $names
private = 127.0.0.1/32
authorities = $authority
[grant "clients"]
network = @network
CONF
		clients => {program => $SHELL, permissions => {network => \@network}, inputsSchema => {type => 'object'},
			    limits => {maxProcesses => 64, maxMemoryBytes => 2 << 30, maxWallMs => 120_000}}})->greeted;
	my @tried = grep { !$_->[3] } @commands;
	my $script = $SOCKET =~ s/'/'\\''/gr;
	my $v = $s->run(clients => {commands => [['script', "printf '%s' '$script' >talk.py"], map { [@$_[0, 1]] } @tried]})->{view};

	is($v->{status}, 'succeeded', "$who: the run ends well") or diag(json_of($v));
	for my $c (@commands) {
		my ($name, undef, $seen, $lacking) = @$c;
		SKIP: {
			skip "$who: $name: $lacking", 1 if $lacking;
			like($v->{result}{$name}{said} // '', $seen, "$who: $name");
		}
	}
	my $pushed = `git -C $repository for-each-ref --format='%(refname:short)' 2>&1`;
	like($pushed, qr/^pushed-/m, "$who: what was pushed is there");
	unlike($pushed, qr/stolen/, "$who: what was not granted is not");
	$s->stop("$who: the server ends and leaves nothing behind");
}
done_testing;
