#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Secrets of the operator reach the hosts of the secrets in requests of runs with a grant. No value
# is in the cage (environment, files, memory, /proc), in paddockd's memory, in logs, results, records
# or the audit. HUP changes the value for a run under way.
use lib 'tests/lib';
use Daemon;
use Digest::SHA qw(sha256_hex);
use EgressSite;
use File::Temp qw(tempdir);
use Needs;
use Paddock;

needs('python3', 'openssl');
my $folder = tempdir(CLEANUP => 1);
chmod 0755, $folder;
my $ca = EgressSite::authority($folder);
my $pem = EgressSite::certificate($folder, 'DNS:api.test, DNS:other.test');
my $port = EgressSite::tls_host('127.0.0.1', $pem);
$Paddock::beside{$_} = 1 for children_of($$);
pipe my $begun, my $begin or die "pipe: $!\n";
my $plain = EgressSite::http_host('127.0.0.1', {'GET /begun' => sub { syswrite $begin, 'x'; print {$_[0]} EgressSite::plain('') }});
my $names = EgressSite::names({map { ("$_.test" => [[A => '127.0.0.1']]) } qw(api other)});

my ($FIRST, $LAST, $NEXT) = ('sk-Vq7Lx0', 'rT9uWz3K', 'sk-another-key-of-tomorrow');
my $KEY = $FIRST . $LAST;

my $PROGRAM = <<"PY";
#!/usr/bin/python3
import json, os, ssl, sys, time, urllib.request, urllib.error
given = json.load(sys.stdin)
# without a secret TLS goes through to the host, whose authority is the test's
TLS = None if "SSL_CERT_FILE" in os.environ else ssl._create_unverified_context()
def ask(url, **fields):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=60, context=TLS) as r:
            return r.status, r.read().decode("latin1")
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode("latin1")
    except Exception as e:
        return 0, str(e)
HOST = "https://api.test:$port"
def get(path, host=HOST, **fields):
    return ask(host + path, **fields)
# memory of the program never has both halves beside each other
first, last = given.get("first", "").encode(), given.get("last", "").encode()
def has(data):
    at = data.find(first)
    while at >= 0:
        if data[at + len(first):at + len(first) + len(last)] == last:
            return True
        at = data.find(first, at + 1)
    return False
def memory(pid):
    with open("/proc/%s/maps" % pid) as maps, open("/proc/%s/mem" % pid, "rb", 0) as mem:
        for line in maps:
            a, b = (int(x, 16) for x in line.split()[0].split("-"))
            if line.split()[1][0] != "r" or b - a > 1 << 28:
                continue
            try:
                mem.seek(a)
                if has(mem.read(b - a)):
                    return True
            except (OSError, ValueError, OverflowError):
                pass
    return False
def look():
    found, seen = [], 0
    for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
        for name in ("environ", "cmdline", "maps", "status"):
            try:
                if has(open("/proc/%s/%s" % (pid, name), "rb").read()):
                    found.append("/proc/%s/%s" % (pid, name))
            except OSError:
                pass
        try:
            if memory(pid):
                found.append("memory of " + pid)
            seen += 1
        except OSError:
            pass
    for top, folders, files in os.walk("/"):
        folders[:] = [f for f in folders if os.path.join(top, f) not in ("/proc", "/sys", "/usr", "/lib", "/lib64")]
        for f in files:
            path = os.path.join(top, f)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 1 << 24 and has(open(path, "rb").read()):
                    found.append(path)
            except OSError:
                pass
    return {"found": found, "memories": seen}
def rotate():
    seen = [get("/digest")[1]]
    ask("http://api.test:$plain/begun")
    end = time.monotonic() + 90
    while seen[-1] != given["until"] and time.monotonic() < end:
        time.sleep(0.05)
        said = get("/digest")[1]
        if said != seen[-1]:
            seen.append(said)
    return seen
PY

sub program { return "$PROGRAM\nprint(json.dumps($_[0]))\n" }

my @hosts = ("api.test:$port", "other.test:$port", "api.test:$plain");
sub wants { my (@secrets) = @_; return (permissions => {network => \@hosts, @secrets ? (secrets => \@secrets) : ()},
	limits => {maxMemoryBytes => 512 << 20}, inputsSchema => {type => 'object'}) }
my %templates = (
	uses => {program => program('{"digest": get("/digest"), "echo": get("/x"), "forms": get("/forms"), "head": get("/head"), "own": get("/digest", Authorization="mine"),'
		. ' "outside": get("/other/x", "https://other.test:' . $port . '"), "plain": ask("http://api.test:' . $plain . '/x"), "look": look(), "token": os.environ.get("API_TOKEN")}'), wants('api')},
	placed => {program => program('get("/digest", Authorization="Bearer " + os.environ["API_TOKEN"])'), wants('api')},
	rotates => {program => program('rotate()'), wants('api')},
	query => {program => program('get("/digest")'), wants('query')},
	basic => {program => program('get("/digest")'), wants('basic')},
	ruled => {program => program('[get("/digest"), get("/x")]'), wants('ruled')},
	none => {program => program('[get("/digest"), "API_TOKEN" in os.environ]'), wants()},
	ungranted => {program => program('1'), wants('api')},
	unknown => {program => program('1'), wants('nothing')},
	foreign => {program => program('1'), wants('others')},
	stranger => {program => program('1'), wants('strangers')},
);

sub secret { my ($name, @lines) = @_; return join "\n", "[secret \"$name\"]", "hosts = api.test", @lines, '' }

sub config {
	my ($file) = @_;
	my $all = join ' ', @hosts;
	my %granted = ((map { $_ => 'api' } qw(uses placed rotates)), query => 'query', basic => 'basic', ruled => 'ruled',
		unknown => 'nothing', foreign => 'others', stranger => 'strangers');

	return "[network]\nresolver = $names\nprivate = 127.0.0.0/8\nauthorities = $ca\n"
	    . secret('api', "file = $file", 'header = Authorization: Bearer {}', 'variable = API_TOKEN')
	    . secret('query', "file = $file", 'query = key')
	    . secret('basic', "file = $file", 'basic = me')
	    . secret('ruled', "file = $file", 'header = Authorization: {}', 'rules = GET:/digest')
	    . secret('others', "file = $file", 'basic = me', 'templates = uses')
	    . secret('strangers', "file = $file", 'basic = me', 'requestors = somebody')
	    . "[grant \"*\"]\nnetwork = $all\n"
	    . join '', map { "[grant \"$_\"]\nsecrets = $granted{$_}\n" } sort keys %granted;
}

# Look for the key in the memory of the process.
sub in_memory {
	my ($pid, $key) = @_;

	no warnings 'portable';
	open my $maps, '<', "/proc/$pid/maps" or return;
	open my $mem, '<:raw', "/proc/$pid/mem" or return;
	while (<$maps>) {
		my ($from, $to) = /^([0-9a-f]+)-([0-9a-f]+) r/ or next;
		next if length $from > 14 || hex($to) - hex($from) > 1 << 28;
		sysseek $mem, hex $from, 0 or next;
		my $left = hex($to) - hex $from;
		my $tail = '';
		while ($left > 0 && (my $n = sysread $mem, my $part, $left > 1 << 20 ? 1 << 20 : $left)) {
			return 1 if index($tail . $part, $key) >= 0;
			$tail = substr $part, -64;
			$left -= $n;
		}
	}
	return 0;
}

sub below { my ($pid) = @_; return ($pid, map { below($_) } children_of($pid)) }

sub refused_with { my ($c, $id, $why, $name) = @_; my $r = $c->run($id => {}); refused($r, 'PERMISSION_NOT_ALLOWED', $name); return like($r->{view}{error}, $why, "$name: the sentence") }

for (users()) {
	my ($who, $uid) = @$_;
	my $file = "$folder/key" . ($uid // '');
	write_file($file, "$KEY\n");
	chmod 0600, $file;
	chown $uid, -1, $file if $uid;
	my $s = Daemon->new(user => $uid, templates => \%templates, config => "[server]\naudit_file = AUDIT\n" . config($file), idle => 1);
	write_file("$s->{root}/paddock.conf", read_file("$s->{root}/paddock.conf") =~ s{AUDIT}{$s->{root}/audit}r);
	$s->start;
	my $c = $s->client($uid)->greeted;

	my $v = $c->run(uses => {first => $FIRST, last => $LAST})->{view};
	my $out = $v->{result} // {};
	is_deeply($out->{digest}, [200, sha256_hex("Bearer $KEY")], "$who: the key arrives at its host") or diag(json_of($v));
	is_deeply($out->{own}, [200, sha256_hex("Bearer $KEY")], "$who: the program's own field is replaced");
	is($out->{token}, 'paddock-placeholder-api', "$who: the variable has the placeholder");
	like($out->{echo}[1] // '', qr/^Authorization: Bearer \*+/m, "$who: an echo by the host is masked");
	is($out->{forms}[0], 200, "$who: the host answers with forms of the key");
	unlike($out->{forms}[1] // '', qr/\Q$KEY\E|\Q@{[unpack 'H*', $KEY]}\E/i, "$who: other forms are masked, too");
	unlike($out->{outside}[1] // '', qr/authorization/i, "$who: another host does not get the key");
	unlike($out->{plain}[1] // '', qr/authorization/i, "$who: http does not get the key");
	is_deeply($out->{look}{found}, [], "$who: the key is nowhere in the cage");
	cmp_ok($out->{look}{memories} // 0, '>=', 1, "$who: memory of the cage was looked at");
	my ($host) = grep { $_->{host} eq "api.test:$port" } @{$v->{network}{hosts} // []};
	is_deeply($host->{secrets}, ['api'], "$who: the record has the name of the secret") or diag(json_of($v->{network}));

	is_deeply($c->run(placed => {})->{view}{result}, [200, sha256_hex("Bearer $KEY")], "$who: the placeholder becomes the key");
	is_deeply($c->run(query => {})->{view}{result}, [200, sha256_hex("key=$KEY")], "$who: the key arrives in the query");
	is($c->run(basic => {})->{view}{result}[0], 200, "$who: basic authentication is answered");
	my $ruled = $c->run(ruled => {})->{view};
	is($ruled->{result}[0][1], sha256_hex($KEY), "$who: a request within the secret's rules has the key") or diag(json_of($ruled));
	like($ruled->{result}[1][1] // '', qr{\AGET /x\n(?!.*authorization)}si, "$who: another request goes without the key");
	is_deeply($c->run(none => {})->{view}{result}, [[200, sha256_hex('')], JSON::PP::false], "$who: a template without the secret has neither key nor variable");

	refused_with($c, 'ungranted', qr/asks for the secret api, which is not granted; the operator can grant it, by secrets = api in \[grant "ungranted"\]/, "$who: a secret without a grant");
	refused_with($c, 'unknown', qr/asks for the secret nothing, which paddock\.conf does not have; the operator, by \[secret "nothing"\]/, "$who: a secret without a section");
	refused_with($c, 'foreign', qr/asks for the secret others, which is for other templates; the operator, by templates in \[secret "others"\]/, "$who: a secret for other templates");
	refused_with($c, 'stranger', qr/asks for the secret strangers, which is for runs of other requestors; the operator, by requestors in \[secret "strangers"\]/, "$who: a secret for other requestors");

	my $run = $c->run_async(rotates => {until => sha256_hex("Bearer $NEXT")});
	is(sysread($begun, my $byte, 1), 1, "$who: a run has begun");
	my ($egress) = $s->log_text =~ /.*part=egress pid=(\d+) started/s;
	if (as_root()) {
		my @pids = grep { !/^$egress$/ } below($s->{pid});
		my %keeps = map { $_ => 1 } below($egress);
		is_deeply([grep { !$keeps{$_} && in_memory($_, $KEY) } @pids], [], "$who: no process of paddockd has the key but paddock-egress");
		ok(in_memory($egress, $KEY), "$who: such a look finds the key where it is");
	}
	write_file($file, "$NEXT\n");
	is($s->reload, 'done', "$who: the key is changed");
	is_deeply($c->ended($run)->{result}, [map { sha256_hex("Bearer $_") } $KEY, $NEXT], "$who: a run under way goes on with the new key");

	# a new file of a secret takes a new process of paddock-egress
	write_file("$file.new", "$KEY\n");
	chmod 0600, "$file.new";
	chown $uid, -1, "$file.new" if $uid;
	write_file("$s->{root}/paddock.conf", read_file("$s->{root}/paddock.conf") =~ s{\Q$file\E$}{$file.new}gmr);
	is($s->reload, 'done', "$who: the key has another file");
	$v = $c->run(placed => {})->{view};
	is_deeply($v->{result}, [200, sha256_hex("Bearer $KEY")], "$who: the next run has the key of the other file") or diag(json_of($v));

	my @kept = grep { -f } glob("$s->{root}/state/* $s->{root}/state/*/* $s->{root}/state/*/*/*");
	is_deeply([grep { index(read_file($_) // '', $KEY) >= 0 || index(read_file($_) // '', $NEXT) >= 0 } @kept, "$s->{root}/audit", $s->{log}], [],
		"$who: no file of the state, no log and no audit has a key");
	my @audited = grep { ($_->{secret} // '') eq 'api' } map { json_to($_) } split /\n/, read_file("$s->{root}/audit");
	ok(@audited >= 3, "$who: the audit log has the name of the secret");
	$c->hang_up;
	$s->stop("$who: the daemon ends and leaves nothing behind");
}
done_testing;
