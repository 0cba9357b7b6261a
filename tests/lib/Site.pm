# SPDX-License-Identifier: Apache-2.0
# Site.pm - tests/system/browser/site on a port of loopback: pages for a browser to
# get right, and a server that misbehaves as told. serving() needs Paddock.pm.
package Site;

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IO::Socket::INET;
use MIME::Base64 qw(decode_base64);
use POSIX ();

my %live;
my @extra;
my $owner = $$;

END {
	if ($$ == $owner) {
		my $status = $?;
		kill KILL => $_ for keys %live;
		waitpid($_, 0) for keys %live;
		$? = $status;
	}
}

my $home = abs_path(dirname(__FILE__) . '/../system/browser/site');
my %type = (html => 'text/html; charset=utf-8', png => 'image/png');
my $pixel = decode_base64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAA'
	. 'DUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==');

# PAGES are served as /page/0, /page/1…
sub new {
	my ($class, @pages) = @_;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
		Listen => 128, ReuseAddr => 1) or die "listen: $!\n";
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0) {
		@extra = @pages;
		serve($listener);
		POSIX::_exit(0);
	}
	my $self = bless {pid => $pid, port => $listener->sockport}, $class;
	close $listener;
	$live{$pid} = 1;
	return $self;
}

sub url { my ($self, $path) = @_; return "http://127.0.0.1:$self->{port}$path" }

sub stop {
	my ($self) = @_;

	kill KILL => $self->{pid};
	waitpid $self->{pid}, 0;
	delete $live{$self->{pid}};
}

# Inputs of login_keep_session; MORE replaces members.
sub login {
	my ($self, %more) = @_;

	return {startUrl => $self->url('/login.html'), locateMode => 'semantic',
		semanticHints => {username => 'user name',
			password => 'password', submit => 'log in'},
		credentials => {username => 'ada', password => 'secret'}, %more};
}

# The processes of requests for PATH that are not answered yet.
sub serving {
	my ($self, $path) = @_;

	return grep { (Paddock::read_file("/proc/$_/cmdline") // '') =~ /^site \Q$path\E\0*$/ }
	    Paddock::children_of($self->{pid});
}

# A connection a process, a request a connection; they end with the server.
sub serve {
	my ($listener) = @_;

	$SIG{CHLD} = 'IGNORE';
	while (1) {
		my $peer = $listener->accept or next;
		my $pid = fork // next;
		if ($pid == 0) {
			syscall(157, 1, 9, 0, 0, 0)    # PR_SET_PDEATHSIG
			    if (POSIX::uname())[4] eq 'x86_64';
			close $listener;
			handle($peer);
			POSIX::_exit(0);
		}
		close $peer;
	}
}

sub answer {
	my ($peer, $status, $body, @fields) = @_;

	push @fields, 'Content-Type: text/html; charset=utf-8'
	    unless grep { /^Content-Type/ } @fields;
	print $peer join "\r\n", "HTTP/1.1 $status X", @fields,
	    'Content-Length: ' . length $body, 'Connection: close', '', $body;
	$peer->flush;
}

sub page { return "<!DOCTYPE html><title>$_[0]</title><h1>$_[0]</h1><p>$_[1]</p>" }

# Until the client goes.
sub hold { my ($peer) = @_; 1 while sysread $peer, my $byte, 1 }

sub escaped {
	my ($s) = @_;

	$s =~ s/&/&amp;/g;
	$s =~ s/</&lt;/g;
	return $s;
}

sub handle {
	my ($peer) = @_;
	my $head = '';

	while ($head !~ /\r\n\r\n/) {
		sysread $peer, $head, 4096, length $head or return;
		return answer($peer, 400, '') if $head =~ /^\x16/;    # TLS
	}
	($head, my $body) = split /\r\n\r\n/, $head, 2;
	my ($method, $target) = $head =~ m{^(\S+) (\S+)} or return;
	my ($length) = $head =~ /^Content-Length: (\d+)/mi;
	while (length $body < ($length // 0)) {
		sysread $peer, $body, 4096, length $body or return;
	}
	my ($path, $query) = split /\?/, $target, 2;
	$0 = "site $path";
	my ($cookie) = $head =~ /^Cookie: (.*?)\r?$/mi;
	$query //= '';

	return answer($peer, $1, page("Status $1", 'as asked'))
	    if $path =~ m{^/status/(\d+)$};
	return answer($peer, 200, $extra[$1])
	    if $path =~ m{^/page/(\d+)$} && defined $extra[$1];
	return answer($peer, 404, '') if $path eq '/empty404';
	return answer($peer, 204, '') if $path eq '/nothing';
	if ($path eq '/redirect') {
		my ($to) = $query =~ /to=([^&]*)/;
		$to =~ s/%([0-9a-fA-F]{2})/chr hex $1/ge;
		return answer($peer, 302, '', "Location: $to",
			'Access-Control-Allow-Origin: *');
	}
	return hold($peer) if $path eq '/never';
	if ($path eq '/half') {
		print $peer "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
		    . '<!DOCTYPE html><title>Half</title><p>the first half';
		$peer->flush;
		return hold($peer);
	}
	if ($path eq '/pending') {
		return answer($peer, 200, page('Pending', 'an image never comes')
			. '<script>fetch("/never")</script>');
	}
	return answer($peer, 200, page('Later', 'leads elsewhere')
		. '<script>setTimeout(() => { location = "/status/500" }, 50)</script>')
	    if $path eq '/later';
	return answer($peer, 200, 'PK', 'Content-Type: application/zip',
		'Content-Disposition: attachment; filename=a.zip')
	    if $path eq '/download';
	if ($path eq '/login' && $method eq 'POST') {
		return answer($peer, 302, '', 'Location: /account',
			'Set-Cookie: session=open; HttpOnly; Path=/')
		    if $body eq 'username=ada&password=secret';
		return answer($peer, 401, page('Refused', escaped($body)));
	}
	return answer($peer, $body eq 'username=ada&password=secret'
		? (200, '', 'Set-Cookie: session=open; HttpOnly; Path=/') : (401, ''))
	    if $path eq '/enter';
	if ($path eq '/account') {
		return answer($peer, 200, page('Account', 'Welcome, ada'))
		    if ($cookie // '') =~ /session=open/;
		return answer($peer, 403, page('Refused', 'log in first'));
	}
	return answer($peer, 200, page('Cookies', escaped('cookie: ' . ($cookie // 'none'))),
		'Set-Cookie: seen=1; Path=/') if $path eq '/cookies';
	return answer($peer, 200, page('Echo', escaped($query)))
	    if $path eq '/echo';
	return answer($peer, 200, "View $1", 'Content-Type: text/plain')
	    if $path =~ m{^/api/(\w+)$};
	return answer($peer, 200, $pixel, 'Content-Type: image/png')
	    if $path eq '/pixel.png';
	my ($name, $ext) = $path =~ m{^/(\w+)\.(html)$};
	open my $f, '<:raw', "$home/$name.$ext"
	    or return answer($peer, 404, page('Not found', 'no such page'))
	    if $name;
	return answer($peer, 404, page('Not found', 'no such page')) unless $name;
	local $/;
	return answer($peer, 200, scalar <$f>, "Content-Type: $type{$ext}");
}

1;
