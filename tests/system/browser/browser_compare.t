#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# multi_tab_compare beside pages whose differences are known: compare.json has
# sets of pages, and what the first of each differs from the others in.
use lib 'tests/lib';
use Paddock;
use Broker;
use Encode qw(encode);
use Pages;
use Site;

needs('Chromium');

my $sets = json_to(Paddock::read_file('tests/system/browser/compare.json'));
my @pages = map { map { encode('UTF-8', $_) } @{$_->{pages}} } @$sets;
my $site = Site->new(@pages);

sub url { return $site->url($_[0]) }

my $s = Paddock->new(dirs => ["$TOP/etc/templates"], grants => ['hosts=127.0.0.1'])->greeted;

# ---- two to five pages, side by side ----

{
	my ($right, $all, $from, $slowest) = (0, 0, 0, 0);
	my @asked;

	for my $set (@$sets) { # its first page, and some of the others
		my @others = 1 .. @{$set->{labels}};
		for my $n (1, 4, 4) {
			my @some = splice @others, 0, $n or last;
			push @asked, [[map { $set->{labels}[$_ - 1] } @some],
			    $s->ask_run(multi_tab_compare => {urls => [
				map { url('/page/' . ($from + $_)) } 0, @some]},
				mode => 'sync', timeoutMs => 20_000)];
		}
		$from += @{$set->{pages}};
	}
	for (@asked) {
		my ($labels, $ask) = @$_;
		my $v = $s->result($ask)->{view};

		is($v->{status}, 'succeeded', @$labels + 1 . ' pages are compared within 20 s')
		    || diag(json_of($v));
		fits('multi_tab_compare', $v->{result});
		$slowest = $v->{metrics}{elapsedMs} if $v->{metrics}{elapsedMs} > $slowest;
		for my $i (0 .. $#$labels) {
			my ($want, $got) = ($labels->[$i], $v->{result}{diffs}[$i]);
			my @same = (!$got->{title}{same} == !$want->{title},
				    $got->{elementCount}{delta} == $want->{delta},
				    "@{$got->{topSections}{changedPositions}}" eq
				    "@{$want->{changed}}");

			$all += @same;
			$right += grep { $_ } @same;
			diag(json_of([$want, $got])) if grep { !$_ } @same;
		}
	}
	is($all, 3 * 9 * @$sets, 'all labels were looked at');
	cmp_ok($right / $all, '>=', 0.95, "$right of $all differences are told rightly");
	note(@asked . " comparisons side by side; the slowest took $slowest ms");
}

# ---- more, and fewer than there should be ----

{
	my $v = $s->run_sync(multi_tab_compare => {urls => [map { url("/page/$_") } 0 .. 9]});
	is(scalar(@{$v->{result}{diffs}}), 9, 'ten pages, the first with each other one');
	$v = $s->run_sync(multi_tab_compare => {urls => [
	    url('/later'), url('/article.html'), url('/form.html')]});
	is($v->{status}, 'partial_success', 'a page that does not come is left out');
	is(scalar(@{$v->{result}{warnings}}), 2, 'two warnings for a page that does not come') || diag(json_of($v));
	$v = $s->run_sync(multi_tab_compare => {urls => [url('/status/404'), url('/article.html')]});
	is($v->{error}{details}{stepErrorCode} // '', 'TPL_TOO_FEW_PAGES',
	   'one alone cannot be compared') || diag(json_of($v));
}

$site->stop;
$s->stop;
done_testing;
