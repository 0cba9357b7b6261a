#!/usr/bin/perl
# The templates that drive a browser, in real Chromium: what they give,
# by stdio and by HTTP, at once and later.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Broker;
use Http qw(sha256_hex);
use Paddock;
use Site;
use Test::More;

plan skip_all => Broker::missing() if Broker::missing();

my $site = Site->new;
my %output = map { $_ => json_to(Paddock::read_file("$TOP/etc/templates/$_/template.json"))->{outputsSchema} }
    qw(batch_extract_pages login_keep_session multi_tab_compare);

sub url { return $site->url($_[0]) }
sub fits { my ($id, $v) = @_;
	   my @wrong = schema_errors($output{$id}, $v);
	   ok(!@wrong, "$id gives what it declares") || diag("@wrong") }
sub artifact { # as the client reads it
	my ($s, $v, $name) = @_;
	my ($a) = grep { $_->{name} eq $name } @{$v->{artifacts}};
	return undef unless $a;
	my $got = $s->tool(get_artifact => {artifactId => $a->{artifactId}})->{view};
	return MIME::Base64::decode_base64($got->{data});
}
sub login { return {startUrl => url('/login.html'), locateMode => 'semantic',
	semanticHints => {username => 'user name', password => 'password', submit => 'log in'},
	credentials => {username => 'ada', password => 'secret'}, waitTimeoutMs => 1500, @_} }

my @s = (Paddock->new(dirs => ["$TOP/etc/templates"]));
$s[0]->init;
my $http = Http->new(dirs => ["$TOP/etc/templates"], config =>
    "[requestor \"a\"]\ntrust_level = local\ntoken_sha256 = " . sha256_hex('a' x 43) . "\n");
$http->{tokens} = {a => 'a' x 43};
push @s, $http->client('a')->greeted;

# ---- each, sync and async, by stdio and by HTTP ----

for my $s (@s) {
	my $name = $s == $s[0] ? 'stdio' : 'HTTP';
	my %inputs = (
	    batch_extract_pages => {urls => [url('/article.html'), url('/cjk.html')],
				    export => ['json', 'csv']},
	    login_keep_session => login(),
	    multi_tab_compare => {urls => [url('/article.html'), url('/form.html')]});

	for my $id (sort keys %inputs) {
		my $v = $s->run_sync($id => $inputs{$id});
		is($v->{status}, 'succeeded', "$name: $id, sync") || diag(json_of($v));
		fits($id, $v->{result});
		$v = $s->ended($s->run_async($id => $inputs{$id}));
		is($v->{status}, 'succeeded', "$name: $id, async");
		ok($v->{result}{success}, 'a success');
		next if $id eq 'login_keep_session';
		my $file = artifact($s, $v, $id eq 'multi_tab_compare'
				    ? 'compare.json' : 'pages.json');
		same_json(json_to($file), $v->{result}, 'whose artifact is the result');
	}
}

$site->stop;
$_->stop for $s[0], $http;
done_testing;
