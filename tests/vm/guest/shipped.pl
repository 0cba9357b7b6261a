# SPDX-License-Identifier: Apache-2.0
# shipped.pl - each template that ships runs once, Node.js's and the browser's among
# them, and so do the browser's own tools.
use strict;
use warnings;
use lib '/root/guest';
use Guest;

use lib '/root/guest/tests/lib';
use Site;

my $site = Site->new;
my ($one, $two) = map { $site->url("/$_.html") } qw(article form);
my $c = client() or die "the socket takes no client\n";
my %inputs = (batch_extract_pages => {urls => [$one, $two]}, multi_tab_compare => {urls => [$one, $two]}, login_keep_session => $site->login);
sub opens { my ($v) = @_; return ($v->{statusCode} // 0) == 200 }

for my $dir (sort glob '/usr/share/paddock/templates/*') {
	my ($id) = $dir =~ m{([^/]+)$};
	my ($test) = grep { ($_->{expect}{status} // '') eq 'succeeded' } map { json_to(text_of($_)) } sort glob "$dir/tests/*.json";
	my $v = tried($id, \&succeeds, sub { $c->run($id, $inputs{$id} // $test->{inputs}) });

	is($v->{status}, 'succeeded', "$id runs", json_of($v));
	is($v->{result}{loginState}, 'authenticated', 'and logs in', json_of($v)) if $id eq 'login_keep_session';
}
my $tab = tried('create_tab', \&opens, sub { $c->tool(create_tab => {url => $one}) });
is($tab->{statusCode}, 200, 'the browser opens a page', json_of($tab));
my $page = tried('navigate', \&opens, sub { $c->tool(navigate => {tabId => $tab->{tabId}, url => $two}) });
is($page->{statusCode}, 200, 'and goes to another', json_of($page));
my ($out) = ran('paddock', 'run', 'run_python', '-i', 'code=print(open("in/group").read())', '-i', 'files.f=@@/etc/group');
like($out, qr/paddock:x:/, 'a run is given a file', $out);
$site->stop;
1;
