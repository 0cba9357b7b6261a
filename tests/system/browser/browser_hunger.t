#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_hunger.t - a page which takes memory or threads until the browser has no more is
# ended alone, with a reason; the pages of other clients go on.
use lib 'tests/lib';
use Paddock;
use Broker;
use Site;

needs('Chromium');

my %page = (
    memory => 'const all = []; setInterval(() => all.push(new Uint8Array(16 << 20).fill(7)), 10);',
    buffers => 'const all = []; setInterval(() => { for (let i = 0; i < 16; i++) ' .
	'all.push(crypto.getRandomValues(new Uint32Array(16384)).join("")); }, 5);',
    workers => 'const code = URL.createObjectURL(new Blob(["setInterval(() => 0, 1000)"]));' .
	'for (let i = 0; i < 60; i++) new Worker(code);',
    threads => 'const code = URL.createObjectURL(new Blob(["setInterval(() => 0, 1000)"]));' .
	'setInterval(() => { for (let i = 0; i < 5; i++) new Worker(code); }, 20);',
);
my @names = sort keys %page;
my $site = Site->new(map { "<!DOCTYPE html><title>$_</title><p>$_</p><script>$page{$_}</script>" } @names);
my %bound = (memory => [700, 2000], buffers => [700, 2000], threads => [3000, 2000], workers => [3000, 180]);

for my $i (0 .. $#names) {
	my $name = $names[$i];
	my ($mib, $tasks) = @{$bound{$name}};
	my $log = Paddock::fresh_root() . '/log';
	my $broker = Broker->new(log => $log, args => ['--max-memory', $mib << 20, '--max-processes', $tasks]);
	my ($greedy, $modest) = map { $broker->as(requestor => $_) } qw(greedy modest);
	my $tab = $modest->do('create_tab', {url => $site->url('/form.html')})->{tabId};
	my ($key, $unit) = $name eq 'workers' ? ('max_processes', 'threads') : $name eq 'threads' ? ('threads of a page', 'threads') : ('max_memory', 'bytes');
	my $its = $greedy->do('create_tab', {url => $site->url("/page/$i")});

	# of several pages with the most threads of a page, any may be ended
	if ($name eq 'workers') {
		$greedy->refused('create_tab', {sessionId => $its->{sessionId}, url => $site->url("/page/$i")}) for 1 .. 5;
		until_true("pages that take $name together stay", sub { Paddock::read_file($log) =~ /ended="the hungriest" threads=\d+ allowed=180/ });
		is($broker->control('status')->{starts}, 1, "pages that take $name together are ended one by one");
		is($modest->do('get_page_info', {tabId => $tab})->{page}{url}, $site->url('/form.html'), "another's page never noticed");
		$broker->stop;
		next;
	}
	my $no;

	# on a busy machine a page takes longer than the longest wait
	until_true("a page that takes $name to be ended", sub {
		$no = $greedy->refused('wait', {tabId => $its->{tabId}, text => 'never there', timeoutMs => 60_000});
		return $no->{code} ne 'NAVIGATION_TIMEOUT';
	});
	is($no->{code}, 'RESOURCE_LIMIT', "a page that takes $name is ended");
	is($no->{details}{limit}, $key, "a page that takes $name is ended by the limit $key");
	is($no->{details}{unit}, $unit, 'in its unit');
	is($no->{details}{allowed}, $key eq 'max_memory' ? $mib << 20 : 100, "a page that takes $name is ended with the bound");
	cmp_ok($no->{details}{used}, '<=', 8 * $no->{details}{allowed}, "a page that takes $name is ended with the memory or time used");
	is($no->{details}{whoCanRaise}, $key =~ /^max/ ? "the operator: $key in [browser]" : 'nobody: it is fixed', "a page that takes $name is ended with who can raise $key");
	is($greedy->refused('get_page_info', {tabId => $its->{tabId}})->{code}, 'SESSION_NOT_FOUND',
		"the tab of a page that takes $name is gone");
	is($modest->do('get_page_info', {tabId => $tab})->{page}{url}, $site->url('/form.html'),
		"another's page never noticed");
	is($greedy->do('create_tab', {sessionId => $its->{sessionId}, url => $site->url('/article.html')})->{statusCode},
		200, "the session of a page that takes $name works on");
	is($broker->control('status')->{starts}, 1, 'the browser is the one that it was');
	$broker->stop;
}
$site->stop;
done_testing();
