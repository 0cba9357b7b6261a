#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_shares.t - one requestor takes as many of the browser's sessions, tabs and calls
# as possible: another requestor still finds room, and learns nothing of the first.
use lib 'tests/lib';
use Paddock;
use Broker;
use Site;

needs('Chromium');

my $site = Site->new;
my $broker = Broker->new(args => ['--max-sessions', 10, '--max-tabs', 16, '--max-tabs-per-session', 16]);
my ($greedy, $modest, $third) = map { $broker->as(requestor => $_) } qw(greedy modest third);

# Repeat a call until refused; the refusal.
sub take_all {
	my ($it, @what) = @_;
	my $n = 0;

	while (1) {
		my $a = $it->refused(@what);
		return ($n, $a) if $a->{code} ne 'none';
		$n++ < 300 or BAIL_OUT('there is no end');
	}
}

# ---- sessions ----

my ($n, $no) = take_all($greedy, 'create_tab');
is($n, 9, 'of ten sessions one requestor gets nine');
same_json([$no->{code}, $no->{details}], ['QUOTA_EXCEEDED', {limit => 'max_sessions', used => 9, allowed => 10,
	unit => 'sessions', whoCanRaise => 'the operator: max_sessions in [browser]', retryAfterMs => 1000}],
	'the refusal of a session has the requestor\'s figure and the bound');
is($modest->refused('create_tab')->{code}, 'none', 'another gets one');
($n, $no) = take_all($third, 'create_tab');
is($n, 0, 'when all are taken, a third gets none');
is($no->{details}{used}, 0, 'the refusal of a third requestor says that none is used');
unlike(json_of($no), qr/9|greedy|modest/, 'the refusal of a third requestor tells nothing of others');
is($_->do('list_sessions')->{sessions}[0]{requestor}, $_->{requestor}, "$_->{requestor} sees its own")
    for $greedy, $modest;
my %core = map { $_ => 1 } core_limits_below($broker->{pid});
same_json([keys %core], ['1 1'], "a crash of any of Chromium's processes starts nobody");
$broker->control('requestor_gone', {requestor => $_}) for qw(greedy modest);

# ---- tabs ----

my $session = $greedy->do('create_tab')->{sessionId};
($n, $no) = take_all($greedy, 'create_tab', {sessionId => $session});
is($n + 1, 14, 'of 16 tabs one requestor gets 14');
is($no->{details}{limit}, 'max_tabs', 'the refusal of a tab names max_tabs');
is($no->{details}{used}, 14, 'the refusal of a tab has the requestor\'s own tabs');
my $tab = $modest->do('create_tab', {url => $site->url('/article.html')});
is($tab->{statusCode}, 200, 'another has a tab, which works');
$no = (take_all($modest, 'create_tab', {sessionId => $tab->{sessionId}}))[1];
unlike(json_of($no), qr/14|15|greedy/, 'the refusal of a tab tells nothing of others');
$broker->control('requestor_gone', {requestor => $_}) for qw(greedy);

# ---- calls ----

my $busy = $greedy->do('create_tab')->{tabId};
my @waits = map { $greedy->begin('wait', {tabId => $busy, text => 'never there', timeoutMs => 60_000}) } 1 .. 300;
$broker->control('status');
my @refused = map { $_->{body} } map { $broker->wait_for($_) } grep { $broker->is_answered($_) } @waits;
cmp_ok(scalar @refused, '>', 60, 'of 300 calls that wait at once, many are refused');
is_deeply([grep { $_->{code} ne 'BROWSER_BUSY' } @refused], [], 'refused calls fail as BROWSER_BUSY');
is_deeply([grep { $_->{details}{allowed} != 256 || $_->{details}{used} > 231 } @refused], [],
	'each with its own figure');
is($modest->do('navigate', {tabId => $tab->{tabId}, url => $site->url('/form.html')})->{statusCode}, 200,
	'another works meanwhile');
my @few = map { $modest->begin('wait', {tabId => $tab->{tabId}, text => 'never there', timeoutMs => 60_000}) } 1 .. 10;
$broker->control('status');
is((grep { $broker->is_answered($_) } @few), 0, 'another requestor may wait for several things at once');
my $after = $modest->refused('get_page_info', {tabId => $tab->{tabId}});
is($after->{code}, 'none', 'beside which others are done');
$broker->stop;

# ---- who is alone has all ----

my $own = Broker->new(args => ['--alone', '--max-sessions', 3]);
($n, $no) = take_all($own->as, 'create_tab');
is($n, 3, 'where there is one requestor only, it has all');
$own->stop;
$site->stop;
done_testing();
