#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Code that a client gives has no network unless the operator grants hosts to the template by
# name; a notebook keeps the network of its template, and loses the state with the grant. Rules
# of methods and paths hold within TLS, by the certificates of the run.
use lib 'tests/lib';
use Daemon;
use EgressSite;
use File::Temp qw(tempdir);
use Needs;
use Paddock;

needs('python3', 'openssl');
my $folder = tempdir(CLEANUP => 1);
chmod 0755, $folder;
my $ca = EgressSite::authority($folder);
my $port = EgressSite::tls_host('127.0.0.1', EgressSite::certificate($folder, 'DNS:api.test'));
$Paddock::beside{$_} = 1 for children_of($$);
my $names = EgressSite::names({'api.test' => [[A => '127.0.0.1']]});
my $TOP = Cwd::abs_path('.');

sub config { return "[network]\nresolver = $names\nprivate = 127.0.0.0/8\nauthorities = $ca\n$_[0]" }

my $FETCH = <<"PY";
import urllib.request, urllib.error, os
def fetch(path, data=None):
    try:
        with urllib.request.urlopen(urllib.request.Request("https://api.test:$port" + path, data=data), timeout=60) as r:
            return r.status
    except urllib.error.HTTPError as e:
        return e.code
    except Exception as e:
        return type(e).__name__
PY

for (users()) {
	my ($who, $uid) = @$_;
	my $granted = config("[grant \"run_python\"]\nnetwork = api.test:$port=GET:/repos/*\n");
	my $s = Daemon->new(user => $uid, dirs => ["$TOP/etc/templates"], config => $granted);
	my $c = $s->client($uid)->greeted;
	my $code = sub { my ($text, %o) = @_; return $c->run(run_python => {code => $FETCH . $text, %o})->{view} };

	my $v = $code->('print([fetch("/repos/x"), fetch("/repos/x", b"y"), fetch("/other"), "SSL_CERT_FILE" in os.environ])');
	is($v->{result}{stdout}, "[200, 403, 403, True]\n", "$who: rules of methods and paths hold within TLS") or diag(json_of($v));
	my ($host) = @{$v->{network}{hosts} // []};
	is(($host->{refusals} // [])->[0]{code}, 'NETWORK_RULE', "$who: the record says that no rule allows the request");
	$v = $c->run(run_bash => {code => 'env | grep -ci proxy'})->{view};
	like($v->{result}{stdout} // '', qr/^0/, "$who: a grant to run_python is none to run_bash") or diag(json_of($v));

	$v = $code->('n = fetch("/repos/1"); n', notebook => 'a');
	is($v->{result}{value}, '200', "$who: a notebook has the network of its template");
	$v = $code->('[n, fetch("/repos/2")]', notebook => 'a');
	is($v->{result}{value}, '[200, 200]', "$who: the notebook keeps state and network") or diag(json_of($v));
	is($v->{network}{requests}, 1, "$who: the record of the second run has the requests of the second run alone");
	write_file("$s->{root}/paddock.conf", config(''));
	is($s->reload, 'done', "$who: the grant is taken away");
	$v = $code->('["n" in globals(), fetch("/repos/3")]', notebook => 'a');
	is($v->{result}{value}, "[False, 'URLError']", "$who: the notebook begins anew, without network") or diag(json_of($v));
	$c->hang_up;
	$s->stop("$who: the daemon ends and leaves nothing behind");
}
done_testing;
