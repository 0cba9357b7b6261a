#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_stalls.t - pages which keep Chromium busy: calls of other clients are answered,
# each call ends within its timeout whatever Chromium does, and a working session is not
# idle.
use lib 'tests/lib';
use Paddock;
use Broker;
use Site;

needs('Chromium');

my %page = (
    'pushes history' => 'for (let i = 0; i < 1e6; i++) history.pushState(i, "", "#" + i)',
    'has 20 busy workers' => 'const u = URL.createObjectURL(new Blob(["for (;;);"])); for (let i = 0; i < 20; i++) new Worker(u)',
    'broadcasts megabytes' => 'const c = new BroadcastChannel("x"), s = "x".repeat(1 << 20); new BroadcastChannel("x").onmessage = () => 0;' .
	'setInterval(() => { for (let i = 0; i < 50; i++) c.postMessage(s) }, 1)',
    'alerts for ever' => 'for (;;) alert(1)',
    'opens windows for ever' => 'for (;;) window.open("about:blank#" + Math.random())',
    'never ends' => 'for (;;);',
);
my @names = sort keys %page;
my $site = Site->new(map { "<!DOCTYPE html><p>$_</p><script>onload = () => setTimeout(() => { $page{$_} }, 100)</script>" } @names);
my $log = Paddock::fresh_root() . '/log';
my $broker = Broker->new(log => $log);
my $modest = $broker->as(requestor => 'modest');
my $tab = $modest->do('create_tab', {url => $site->url('/form.html')})->{tabId};

for my $i (0 .. $#names) {
	my $greedy = $broker->as(requestor => 'greedy');
	my $quiet = $greedy->do('create_tab', {url => $site->url('/form.html')});
	my $its = $greedy->do('create_tab', {url => $site->url("/page/$i"), timeoutMs => 60_000});
	my $waits = $greedy->begin('wait', {tabId => $its->{tabId}, text => 'never there', timeoutMs => 2000}, 900_000);
	my $minute = $greedy->begin('wait', {tabId => $quiet->{tabId}, text => 'never there', timeoutMs => 60_000}, 900_000);
	my @told = map { $modest->refused('get_page_info', {tabId => $tab}, 900_000)->{code} } 1 .. 20;

	is("@told", join(' ', ('none') x 20), "another is answered beside a page that $names[$i]");
	ok(!$broker->is_answered($minute), "a wait of a minute goes on beside a page that $names[$i]");
	ok($broker->wait_for($waits), "the call on a page that $names[$i] ends");
	$greedy->refused('close_session', {sessionId => $_->{sessionId}}) for $its, $quiet;
	ok($broker->wait_for($minute), "a wait in the other session ends beside a page that $names[$i]");
}
is($broker->control('status')->{starts}, 1, 'the browser is the one that it was');

# ---- Chromium answers nobody ----

my ($init) = $broker->control('status')->{pid};
my ($chromium) = split / /, `cat /proc/$init/task/$init/children`;

sub below { my ($pid) = @_; return map { ($_, below($_)) } Paddock::children_of($pid) }

# The processes of pages, with the ms of CPU time used.
sub pages {
	my %ms;

	for (below($init)) {
		next unless (Paddock::read_file("/proc/$_/cmdline") // '') =~ /--type=renderer/;
		my @stat = split / /, (Paddock::read_file("/proc/$_/stat") // '') =~ s/.*\) //r;
		$ms{$_} = 10 * ($stat[11] + $stat[12]) if @stat;
	}
	return %ms;
}

my %before = pages();
$broker->as(requestor => 'greedy')->do('create_tab', {url => $site->url("/page/$_"), timeoutMs => 1000}) for grep { $names[$_] eq 'never ends' } 0 .. $#names;
my $busy = until_true('no page is busy', sub {
	my %now = pages();
	return (grep { $now{$_} - ($before{$_} // 0) >= 300 } keys %now)[0];
});
like(read_file("/proc/$busy/limits"), qr/^Max nice priority +10 +10 /m, 'a page that yields need not do so for good')
    if as_root() && system('prlimit --nice=10:10 true 2>/dev/null') == 0;
# with all CPU time in use, the thread would have too little time to be the busiest
setpriority 0, $_, -10 for as_root() ? map { m{(\d+)$} } glob "/proc/$busy/task/*" : ();
kill STOP => $chromium;
my %bound = (create_tab => {timeoutMs => 1}, navigate => {tabId => $tab, url => $site->url('/article.html'), timeoutMs => 1},
	get_page_info => {tabId => $tab});
my %call = map { ($_ => $modest->begin($_, $bound{$_}, 900_000)) } keys %bound;

like($broker->wait_for($call{$_})->{body}{code}, qr/^(NAVIGATION_TIMEOUT|PAGE_CRASHED)$/, "$_ ends without an answer of Chromium's")
    for sort keys %call;
ok(until_true('a page that is busy meanwhile stays', sub { Paddock::read_file($log) =~ /ended="the busiest" cpu_ms=\d+ allowed=\d+/ }),
   'a page that is busy meanwhile is ended');
until_true('a browser that answers nobody stays', sub { $broker->control('status')->{crashes} });
is($modest->do('create_tab', {url => $site->url('/article.html')})->{statusCode}, 200, 'the browser after a dead one works');
$broker->stop;

# ---- a session at work ----

$broker = Broker->new(args => ['--session-idle-ms', 1]);
$modest = $broker->as;
my $work;

for (1 .. 20) { # between the two calls it is idle, and may end
	my $made = $modest->do('create_tab', {url => $site->url('/form.html')});
	$work = $modest->refused('wait', {tabId => $made->{tabId}, text => 'never there', timeoutMs => 3500});
	last if ($work->{message} // '') !~ /no such tab/;
}
is($work->{code}, 'none', 'a session at work does not end as idle');
ok(until_true('an idle session stays', sub { !@{$modest->do('list_sessions')->{sessions}} }), 'one that is idle does');
$broker->stop;
$site->stop;
done_testing();
