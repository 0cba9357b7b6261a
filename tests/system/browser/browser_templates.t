#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The templates which drive a browser, in real Chromium: from run_task_template through
# get_task_run to get_artifact, over stdio and HTTP, synchronously and asynchronously.
use lib 'tests/lib';
use Paddock;
use Artifact;
use Broker;
use Http qw(sha256_hex);
use Pages;
use Site;

needs('Chromium');

my $site = Site->new;
my ($article, $cjk, $form) = map { $site->url("/$_.html") } qw(article cjk form);
my %config = (dirs => ["$TOP/etc/templates"], grants => ['hosts=127.0.0.1'], config =>
	      "[requestor \"a\"]\ntrust_level = local\ntoken_sha256 = " .
	      sha256_hex('a' x 43) . "\n");
my $stdio = Paddock->new(%config);
my $http = Http->new(%config);
$http->{tokens} = {a => 'a' x 43};
$stdio->init;
my @clients = ([stdio => $stdio], [HTTP => $http->client('a')->greeted]);

# Name, template, inputs, the artifact's name, and whether the result is a success.
my @runs = (
    ['pages', 'batch_extract_pages', {urls => [$article, $cjk], export => ['json', 'csv']},
     'pages.json', 1],
    ['a comparison', 'multi_tab_compare', {urls => [$article, $form]}, 'compare.json', 1],
    ['a login', 'login_keep_session', login($site), undef, 1],
    ['a login that is refused', 'login_keep_session',
     login($site, credentials => {username => 'ada', password => 'wrong'}), 'login.png', '']);
my @modes = qw(sync async);

# The runs of all templates at the same time.
my @asked;
for my $c (@clients) {
	for my $run (@runs) {
		push @asked, [@$c, $run, $_,
			      $c->[1]->ask_run(@$run[1, 2], mode => $_)] for @modes;
	}
}

for (@asked) {
	my ($by, $s, $run, $mode, $ask) = @$_;
	my ($what, $id, undef, $name, $success) = @$run;
	my $first = $s->result($ask)->{view};
	my $v = $s->ended($first->{runId});

	subtest "$what, $mode, by $by" => sub {
		is($v->{status}, 'succeeded', 'succeeds') || diag(json_of($v));
		same_json($first, $v, 'the answer is the whole run') if $mode eq 'sync';
		like($first->{status}, qr/^(queued|running)$/, 'the answer comes before its end')
		    if $mode eq 'async';
		is(!!$v->{result}{success}, !!$success, $success ? 'a success' : 'no success');
		fits($id, $v->{result});
		return unless $name;
		my $file = artifact($s, $v, $name);
		return like($file, qr/^\x89PNG/, "the artifact $name shows the page") if $name =~ /png/;
		same_json(json_to($file), $v->{result}, "the artifact $name is the result");
	};
}
is(scalar(@asked), 2 * 4 * 2, 'in every way');

# As shipped, the templates may open any public host, and this machine if granted.
my $bare = Paddock->new(dirs => ["$TOP/etc/templates"]);
subtest 'without a grant for loopback' => sub {
	my $s = $bare;

	$s->init;
	my $v = $s->run_sync(batch_extract_pages => {urls => [$article, $cjk]});
	is($_->{error}{code}, 'URL_NOT_ALLOWED', 'a page of this machine is not opened') for @{$v->{result}{items}};
	like($v->{result}{items}[0]{error}{message},
	     qr/which the template's grant does not name; the operator can grant it, by hosts = 127\.0\.0\.1 in its \[grant\]/,
	     'the refusal of a host says which grant would help') || diag(json_of($v));
	my $client = $s->tool(create_tab => {url => $article})->{view};
	is($client->{statusCode}, 200, 'a client itself, who is trusted as local, opens it');
	my $r = $s->run(batch_extract_pages => {urls => [$article, $cjk]}, mode => 'sync',
			sessionId => $client->{sessionId})->{view};
	is($r->{result}{items}[0]{error}{code}, 'URL_NOT_ALLOWED', "a client's session opens no host to a template");
	is($s->tool(navigate => {tabId => $client->{tabId}, url => $cjk})->{view}{statusCode}, 200, 'in which it goes on');
};

$site->stop;
$_->stop for $stdio, $http, $bare;
done_testing;
