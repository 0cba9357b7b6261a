#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# browser_https.t - pages behind TLS: the policy meets them as any other, and a
# certificate that nobody vouches for is a failure with its name.

use lib 'tests/lib';
use Paddock;
use Broker;
use IO::Select;
use IPC::Open2;
use Site;

needs('Chromium');

my $folder = Paddock::fresh_root();
my ($cert, $key, $log) = map { "$folder/$_" } qw(cert key log);

system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    . " -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    . " -keyout $key -out $cert 2>/dev/null") == 0
    or BAIL_OUT('openssl makes no certificate');
my $pid = open2(my $said, my $input, 'python3', 'tests/system/browser/https.py', $cert, $key);
my $port = <$said>;
chomp $port;
my $self_signed = "https://127.0.0.1:$port/secret";
my $link_local = 'https://169.254.169.254/latest';
my $site = Site->new("<!DOCTYPE html><title>Mixed</title><p id=a>
    <p id=b><script>
    function note(id, how) { document.getElementById(id).textContent = id + ': ' + how }
    fetch('$link_local', {mode: 'no-cors'}).then(() => note('a', 'came'), () => note('a', 'stopped'))
    fetch('$self_signed', {mode: 'no-cors'}).then(() => note('b', 'came'), () => note('b', 'stopped'))
    </script>");
my $broker = Broker->new(log => $log);
my $me = $broker->as;
my $far = $broker->as(trust => 'remote');

sub logged { return scalar grep { /part=policy/ && /$_[0]/ } split /\n/, read_file($log) // '' }

subtest 'an address that may not be' => sub {
	my $no = $me->refused('create_tab', {url => $link_local});
	is($no->{code}, 'URL_NOT_ALLOWED', 'a literal one');
	is($no->{details}{reason}, "a cloud's metadata address", 'the refusal of a literal address has the reason');
	ok(logged(qr/refused="169\.254\.169\.254" reason="a cloud's metadata address"/),
		'a refused literal address is logged');
	is($far->refused('create_tab', {url => $self_signed})->{code}, 'URL_NOT_ALLOWED',
		'loopback at remote');
	is($broker->control('status')->{starts}, 0, 'none of which a browser saw');

	my $tab = $me->do('create_tab')->{tabId};
	$no = $me->refused('navigate', {tabId => $tab, url => $site->url("/redirect?to=$link_local")});
	is($no->{code}, 'URL_NOT_ALLOWED', 'a redirect');
	same_json($no->{details}, {url => $link_local, trustLevel => 'local',
		reason => "a cloud's metadata address"}, 'leads to no other end');
	ok(logged(qr/session=sess_\w+ .*refused="169\.254\.169\.254" port=443 reason="a cloud's metadata address"/),
		'a refused connection is logged with port and reason');
	$me->do('close_tab', {tabId => $tab});
};

subtest 'a certificate that nobody vouches for' => sub {
	my $before = $broker->control('status')->{tabs};
	my $no = $me->refused('create_tab', {url => $self_signed});
	is($no->{code}, 'EXECUTION_ERROR', 'a page with a bad certificate is no success');
	is($no->{details}{netError}, 'net::ERR_CERT_AUTHORITY_INVALID', 'a bad certificate is a failure with the name of the error');
	is($no->{details}{url}, $self_signed, 'the failure of a bad certificate has the address');
	like($no->{message}, qr/ERR_CERT_AUTHORITY_INVALID/, 'for people, too');
	is($broker->control('status')->{tabs}, $before, 'no tab of it is left');

	my $tab = $me->do('create_tab')->{tabId};
	$no = $me->refused('navigate', {tabId => $tab, url => $self_signed});
	is($no->{details}{netError}, 'net::ERR_CERT_AUTHORITY_INVALID', 'a tab does not go to a bad certificate');
	unlike(json_of($me->do('get_page_content', {tabId => $tab})), qr/secret/i,
		'a tab does not show the page with the bad certificate');
	$no = $me->refused('navigate', {tabId => $tab, url => $site->url("/redirect?to=$self_signed")});
	is($no->{details}{netError}, 'net::ERR_CERT_AUTHORITY_INVALID', 'a redirect does not lead to a bad certificate');
	my $there = $me->do('navigate', {tabId => $tab, url => $site->url('/article.html')});
	is($there->{statusCode}, 200, 'a tab goes on after a bad certificate');
};

subtest 'no TLS at all' => sub {
	my $no = $me->refused('create_tab', {url => $site->url('/article.html') =~ s/^http:/https:/r});
	is($no->{code}, 'EXECUTION_ERROR', 'a page without TLS is no success');
	is($no->{details}{netError}, 'net::ERR_SSL_PROTOCOL_ERROR',
		'a server without TLS fails as ERR_SSL_PROTOCOL_ERROR');
};

subtest 'what a page asks for' => sub {
	my $tab = $me->do('create_tab', {url => $site->url('/page/0')})->{tabId};
	for (['a', 'an address that may not be'], ['b', 'what nobody vouches for']) {
		my ($id, $what) = @$_;
		same_json($me->do('wait', {tabId => $tab, text => "$id: stopped", timeoutMs => 20000})->{found},
			true, $what);
	}
};

is($broker->stop, 0, 'the broker ends');

my $s = Paddock->new(dirs => ["$TOP/etc/templates"], grants => ['hosts=127.0.0.1'])->greeted;
subtest 'a template' => sub {
	my $v = $s->run_sync(batch_extract_pages => {urls => [$self_signed, $site->url('/article.html')]});
	my ($bad, $good) = @{$v->{result}{items}};

	is($v->{status}, 'partial_success', 'a run with a bad certificate has the other pages');
	same_json($good->{success}, true, 'the page beside the bad certificate is read');
	same_json($bad->{success}, false, 'the page with the bad certificate is a failure');
	like(json_of($bad->{error}), qr/ERR_CERT_AUTHORITY_INVALID/, 'the failure of a page names the bad certificate') || diag(json_of($v));
};
my $any = IO::Select->new($said)->can_read(0);
ok(!$any, 'no request reached the server without a certificate') or diag(scalar <$said>);
$site->stop;
close $input;
waitpid $pid, 0;
$s->stop;
done_testing();
