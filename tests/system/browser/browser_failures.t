#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The templates that drive a browser, in real Chromium: pages that fail, and
# forms that do not let in.
use lib 'tests/lib';
use Paddock;
use Artifact;
use Broker;
use Pages;
use Site;

needs('Chromium');

my $site = Site->new('<!DOCTYPE html><input id="user"><input id="pass" type="password">' .
		     '<button disabled>Log in</button>');
sub url { return $site->url($_[0]) }

my $s = Paddock->new(dirs => ["$TOP/etc/templates"], grants => ['hosts=127.0.0.1'])->greeted;

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
		     url('/later'), map { url('/form.html') } 1 .. 4]});
	@items = @{$v->{result}{items}};
	is($v->{status}, 'partial_success', 'pages that fail do not stop the others');
	is_deeply([map { ($_->{error} // {})->{code} // '' } @items],
		  ['', 'TPL_HTTP_STATUS', 'EXECUTION_ERROR', 'URL_NOT_ALLOWED', 'TPL_HTTP_STATUS',
		   '', '', '', ''],
		  'each says why') || diag(json_of(\@items));
	is($items[1]{statusCode}, 404, 'a page with an error status has the status');
	same_json([@{$items[4]}{qw(url statusCode)}], [url('/status/500'), 500],
		  'a page that leads elsewhere by a script has url and status');
	ok(!$items[0]{pageInfo} && $items[0]{content}, 'what is not wanted is left out');
	is($items[0]{title}, 'How rivers meander', 'in the order of the addresses');
	is_deeply($v->{result}{summary}, {total => 9, succeeded => 5, failed => 4}, 'counted');
	my @lines = split /\r\n/, artifact($s, $v, 'pages.csv');
	is(scalar(@lines), 10, 'the table has a line per page');
	like($lines[2], qr/,false,404,TPL_HTTP_STATUS,/, 'failures as well');
	fits('batch_extract_pages', $v->{result});
}

# ---- what shows that a login went well ----

{
	my %wrong = (credentials => {username => 'ada', password => 'wrong'});
	my %inplace = (startUrl => url('/inplace.html'));
	my $by = sub { return (locateMode => 'selector', selectors => {
		username => '#user', password => '#pass', success => $_[0]}) };
	my @logins = (
	    ['another page', 1],
	    ['the same page, and a cookie', 1, %inplace],
	    ['the same page, and no cookie', '', %inplace, %wrong, waitTimeoutMs => 2000],
	    ['an error page', '', %wrong],
	    ['the marker', 1, $by->('h1 + p')],
	    ['the marker, on an error page', 1, $by->('h1 + p'), %wrong],
	    ['no marker', '', $by->('#none'), waitTimeoutMs => 2000]);
	my @asked = map { $s->ask_run(login_keep_session => login($site, @$_[2 .. $#$_]),
				      mode => 'sync') } @logins;

	for (@logins) {
		my ($what, $in) = @$_;
		my $v = $s->result(shift @asked)->{view};

		is($v->{status}, 'succeeded', "$what: the run succeeds") || diag(json_of($v));
		is($v->{result}{loginState}, $in ? 'authenticated' : 'unknown',
		   $in ? 'and is logged in' : 'whether it is logged in is unknown');
		is(!!$v->{result}{success}, !!$in, "$what: success says whether the run is logged in");
		my $shot = artifact($s, $v, 'login.png');
		$in ? is($shot, undef, 'without a picture')
		    : like($shot, qr/^\x89PNG/, 'a run that could not log in leaves a picture');
	}
}

# ---- a login that fails names its step and code ----

{
	my $by = sub { return (locateMode => 'selector', selectors => {
		username => '#user', password => '#pass', @_}) };
	my @logins = (
	    ['no web address', 'validate', 'TPL_LOGIN_URL', startUrl => 'ftp://x/'],
	    ['one that is not allowed', 'navigate', 'URL_NOT_ALLOWED', startUrl => 'http://169.254.169.254/'],
	    ['no server', 'navigate', 'EXECUTION_ERROR', startUrl => 'http://127.0.0.1:1/'],
	    ['no such page', 'navigate', 'TPL_HTTP_STATUS', startUrl => url('/status/404')],
	    ['a page that never comes', 'navigate', 'NAVIGATION_TIMEOUT',
	     startUrl => url('/never'), waitTimeoutMs => 1000],
	    ['half a page', 'navigate', 'NAVIGATION_TIMEOUT',
	     startUrl => url('/half'), waitTimeoutMs => 1000],
	    ['no field', 'locate', 'TPL_LOGIN_FIELD_NOT_FOUND',
	     startUrl => url('/article.html'), waitTimeoutMs => 3000],
	    ['no field by a selector', 'locate', 'TPL_LOGIN_FIELD_NOT_FOUND',
	     $by->(username => '#nobody'), waitTimeoutMs => 3000],
	    ['no selector', 'locate', 'INVALID_PARAMETER', $by->(username => 'a[')],
	    ['a button that is off', 'submit', 'ELEMENT_NOT_FOUND',
	     startUrl => url('/page/0'), $by->(submit => 'button')]);
	my @asked = map { $s->ask_run(login_keep_session => login($site, @$_[3 .. $#$_]),
				      mode => 'sync') } @logins;

	for (@logins) {
		my ($what, $step, $code) = @$_;
		my $v = $s->result(shift @asked)->{view};

		is($v->{status}, 'failed', "$what: the run fails") || diag(json_of($v));
		same_json([@{$v->{error}}{errorCode}, @{$v->{error}{details}}{qw(failedStep stepErrorCode)}],
			  ['STEP_EXECUTION_FAILED', $step, $code], 'at this step, with this code');
	}
}

# ---- logging in ----

{
	my $v = $s->run_sync(login_keep_session => login($site));
	my $id = $v->{result}{sessionId};

	is($v->{sessionId}, $id, 'the run names the session that it keeps');
	is($s->run(batch_extract_pages => {urls => [url('/account')]}, sessionId => $id)
	   ->{view}{result}{items}[0]{content}{sections}[1]{text}, 'Welcome, ada',
	   'a run with the kept session is logged in');
	is($s->run_sync(batch_extract_pages => {urls => [url('/account')]})
	   ->{result}{items}[0]{statusCode}, 403, 'a run without the kept session is not logged in');
	unlike(Paddock::read_file($s->{log}), qr/secret/, 'no password is logged');
}

$site->stop;
$s->stop;
done_testing;
