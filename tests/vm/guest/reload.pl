# SPDX-License-Identifier: Apache-2.0
# reload.pl - HUP: a template that was put there is served; what is taken from a
# requestor or a grant is gone, also when a package is broken at the same time.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

use lib '/root/guest/tests/lib';
use Digest::SHA qw(sha256_hex);
use Site;

my $conf = '/etc/paddock/conf.d';
my $more = '/etc/paddock/templates/words_again';
my $c = client() or die "the socket takes no client\n";
my $site = Site->new;
my @urls = map { $site->url("/$_.html") } qw(article form);

sub requestors { put("$conf/requestors.conf", join '', map { "[requestor \"$_\"]\ntoken_sha256 = " . sha256_hex("token of $_") . "\n" } @_) }
sub reload { my ($name) = @_; return is((ran('systemctl', 'reload', 'paddockd'))[1], 0, $name) }
sub status_of { # of a session of NAME's over HTTP
	my ($name) = @_;
	my $body = json_of({jsonrpc => '2.0', id => 1, method => 'initialize',
		params => {protocolVersion => '2025-06-18', capabilities => {}, clientInfo => {name => 'guest', version => '1'}}});

	return (http('/mcp', POST => $body, Authorization => "Bearer token of $name", Accept => 'application/json, text/event-stream',
		'Content-Type' => 'application/json') =~ m{^HTTP/1.1 (\d+)})[0];
}

system 'cp', '-r', '/usr/share/paddock/templates/word_count', $more;
put("$more/template.json", text_of('/usr/share/paddock/templates/word_count/template.json') =~ s/"word_count"/"words_again"/r);
requestors(qw(bob carol));
reload('systemctl reload');
like(until_true('the new template', sub { my $v = $c->run(words_again => {text => 'a b a'}); $v->{status} && json_of($v) }),
     qr/"succeeded"/, 'a template that was put there is served');
is(join(' ', map { status_of($_) } qw(bob carol dave)), '200 200 401', 'and two requestors have tokens');
my $v = tried('batch_extract_pages', \&succeeds, sub { $c->run(batch_extract_pages => {urls => \@urls}) });
is($v->{status}, 'succeeded', 'a template may open what its grant has', json_of($v));

put("$more/template.json", '{');
requestors('carol');
put("$conf/grants.conf", text_of("$conf/grants.conf") =~ s/^\[grant "batch_extract_pages"\]\nhosts.*\n//mr);
reload('systemctl reload with a broken package');
ok(until_true('the end of the token', sub { status_of('bob') eq '401' }), 'the token that was taken away is refused');
is(status_of('carol'), 200, "while the other's is taken");
$v = $c->run(batch_extract_pages => {urls => \@urls});
ok(($v->{status} // '') ne 'succeeded' && json_of($v) =~ /grant/, 'the grant that was taken away is gone', json_of($v));
$v = $c->run(words_again => {text => 'a b a'});
like($v->{error}{message}, qr/^the package of words_again 1\.0\.0 is broken/, 'a run of the broken package says so', json_of($v));
like(said('journalctl', '-u', 'paddockd', '-o', 'cat', '--no-pager'), qr/words_again.*\b(?:kept|template\.json)/, 'and the log says that it is broken');
system 'rm', '-r', $more;
$site->stop;
1;
