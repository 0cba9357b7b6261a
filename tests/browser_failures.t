#!/usr/bin/perl
# The templates that drive a browser, in real Chromium: pages that fail, and
# forms that do not let in.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Broker;
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

my $s = Paddock->new(dirs => ["$TOP/etc/templates"]);
$s->init;

# ---- pages ----

{
	my $v = $s->run_sync(batch_extract_pages => {export => ['csv'],
	    extract => {maxElements => 1, maxContentLength => 10, pageInfo => \0},
	    urls => [url('/article.html'), url('/status/404'), url('/status/500'),
		     'http://127.0.0.1:1/', 'ftp://x/', url('/article.html')]});
	my @items = @{$v->{result}{items}};

	is($v->{status}, 'failed', 'two of six are less than half') || diag(json_of($v));
	$v = $s->run_sync(batch_extract_pages => {export => ['csv'],
	    extract => {maxElements => 1, maxContentLength => 10, pageInfo => \0},
	    urls => [url('/article.html'), url('/status/404'), 'http://127.0.0.1:1/', 'ftp://x/',
		     map { url('/form.html') } 1 .. 4]});
	@items = @{$v->{result}{items}};
	is($v->{status}, 'partial_success', 'pages that fail do not stop the others');
	is_deeply([map { ($_->{error} // {})->{code} // '' } @items],
		  ['', 'TPL_HTTP_STATUS', 'EXECUTION_ERROR', 'URL_NOT_ALLOWED', '', '', '', ''],
		  'each says why') || diag(json_of(\@items));
	is($items[1]{statusCode}, 404, 'by its status, too');
	ok(!$items[0]{pageInfo} && $items[0]{content}, 'what is not wanted is left out');
	is($items[0]{title}, 'How rivers meander', 'in the order of the addresses');
	is_deeply($v->{result}{summary}, {total => 8, succeeded => 5, failed => 3}, 'counted');
	my @lines = split /\r\n/, artifact($s, $v, 'pages.csv');
	is(scalar(@lines), 9, 'the table has a line per page');
	like($lines[2], qr/,false,404,TPL_HTTP_STATUS,/, 'failures as well');
	fits('batch_extract_pages', $v->{result});
}

# ---- logging in ----

{
	my $v = $s->run_sync(login_keep_session => login());
	my $id = $v->{result}{sessionId};

	is($v->{sessionId}, $id, 'the run names the session that it keeps');
	is($s->run(batch_extract_pages => {urls => [url('/account')]}, sessionId => $id)
	   ->{view}{result}{items}[0]{content}{sections}[1]{text}, 'Welcome, ada',
	   'which another run is logged in by');
	is($s->run_sync(batch_extract_pages => {urls => [url('/account')]})
	   ->{result}{items}[0]{statusCode}, 403, 'and no other');
	$v = $s->run_sync(login_keep_session => login(locateMode => 'selector',
	    selectors => {username => '#user', password => '#pass', success => '#none'}));
	is($v->{status}, 'succeeded', 'a marker that does not show is no failure');
	is($v->{result}{loginState}, 'unknown', 'but unknown');
	ok(!$v->{result}{success}, 'and no success');
	like(artifact($s, $v, 'login.png'), qr/^\x89PNG/, 'with a picture');
	$v = $s->run_sync(login_keep_session => login(startUrl => url('/article.html'),
						      waitTimeoutMs => 500));
	is($v->{error}{details}{stepErrorCode}, 'TPL_LOGIN_FIELD_NOT_FOUND',
	   'a page without the fields has its own code');
	is($v->{error}{details}{failedStep}, 'locate', 'and step');
	unlike(Paddock::read_file($s->{log}), qr/secret/, 'no password is logged');
}

$site->stop;
$s->stop;
done_testing;
