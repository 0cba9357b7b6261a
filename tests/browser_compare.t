#!/usr/bin/perl
# multi_tab_compare beside pages whose differences are known: compare.json has
# sets of pages, and what the first of each differs from the others in.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Broker;
use Encode qw(encode);
use Paddock;
use Pages;
use Site;
use Test::More;

plan skip_all => Broker::missing() if Broker::missing();

my $sets = json_to(Paddock::read_file("$FindBin::Bin/browser/compare.json"));
my @pages = map { map { encode('UTF-8', $_) } @{$_->{pages}} } @$sets;
my $site = Site->new(@pages);

sub url { return $site->url($_[0]) }

my $s = Paddock->new(dirs => ["$TOP/etc/templates"]);
$s->init;
# ---- comparing ----

{
	my ($right, $all, $from) = (0, 0, 0);
	my $slowest = 0;

	for my $set (@$sets) {
		my $v = $s->run_sync(multi_tab_compare => {urls =>
		    [map { url('/page/' . ($from + $_)) } 0 .. $#{$set->{pages}}]});
		$from += @{$set->{pages}};
		for my $i (0 .. $#{$set->{labels}}) {
			my ($want, $got) = ($set->{labels}[$i], $v->{result}{diffs}[$i]);
			my @same = (!$got->{title}{same} == !$want->{title},
				    $got->{elementCount}{delta} == $want->{delta},
				    "@{$got->{topSections}{changedPositions}}" eq
				    "@{$want->{changed}}");

			$all += @same;
			$right += grep { $_ } @same;
			diag(json_of([$i, $want, $got])) if grep { !$_ } @same;
		}
		fits('multi_tab_compare', $v->{result});
		$slowest = $v->{metrics}{elapsedMs} if $v->{metrics}{elapsedMs} > $slowest;
	}
	cmp_ok($right / $all, '>=', 0.95, "$right of $all differences are told rightly");
	note("ten pages took at most $slowest ms");
	my $v = $s->run_sync(multi_tab_compare => {urls => [
	    url('/status/404'), url('/article.html'), url('/form.html')]});
	is($v->{status}, 'partial_success', 'a page that does not come is left out');
	is(scalar(@{$v->{result}{warnings}}), 2, 'and told of') || diag(json_of($v));
	$v = $s->run_sync(multi_tab_compare => {urls => [url('/status/404'), url('/article.html')]});
	is($v->{error}{details}{stepErrorCode} // '', 'TPL_TOO_FEW_PAGES',
	   'one alone cannot be compared') || diag(json_of($v));
}

$site->stop;
$s->stop;
done_testing;
