# SPDX-License-Identifier: Apache-2.0
# Guest.pm - common code for the stages of the test within the virtual machine: TAP with
# numbers that go on over boots, commands with output, waiting, and a client on the daemon's
# socket.
package Guest;

use strict;
use warnings;
use Exporter qw(import);
use IO::Socket::INET;
use IO::Socket::UNIX;
use JSON::PP ();
use POSIX ();

our @EXPORT = qw(ok is like unlike note done boots goes_on off next_boot said ran text_of put until_true tried succeeds client http kept keep json_to json_of);

my $STATE = '/root/guest/state';
my $PATIENCE = 240;
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $goes_on = 0;

sub json_of { return $json->encode($_[0]) }
sub json_to { return eval { $json->decode($_[0]) } }

sub text_of {
	my ($path) = @_;

	open my $fh, '<', $path or return '';
	local $/;
	return scalar(<$fh>) // '';
}

sub put {
	my ($path, $text) = @_;

	open my $fh, '>', $path or die "$path: $!\n";
	print $fh $text;
	close $fh or die "$path: $!\n";
}

# ---- what outlives a boot ----

my $state = json_to(text_of($STATE)) // {boot => 0, n => 0};

sub save { put($STATE, json_of($state)) }
sub boots { return $state->{boot} }
sub kept { return $state->{kept}{$_[0]} }
sub keep { $state->{kept}{$_[0]} = $_[1]; save() }
sub goes_on { return $goes_on }

# ---- TAP ----

sub note { print map { "# $_\n" } split /\n/, join '', @_ }

sub ok {
	my ($good, $name, @more) = @_;

	$state->{n}++;
	save();
	print $good ? 'ok' : 'not ok', " $state->{n} - $name\n";
	note(@more) if !$good && @more;
	return $good;
}

sub is {
	my ($got, $want, $name, @more) = @_;

	return ok(defined $got && $got eq $want, $name, 'got:  ', $got // 'nothing', "\nwant: $want\n", @more);
}

sub like {
	my ($got, $re, $name, @more) = @_;

	return ok(scalar(defined $got && $got =~ $re), $name, 'got: ', $got // 'nothing', "\n", @more);
}

sub unlike {
	my ($got, $re, $name) = @_;

	return ok(defined $got && $got !~ $re, $name, 'got: ', $got // 'nothing');
}

sub done { print "1..$state->{n}\n" }

# ---- the machine ----

sub off {
	system 'sync';
	system 'systemctl', 'poweroff';
}

# HOW: by the init system, or as at a loss of power, when only synced data stay on disk: the
# test syncs the TAP count.
sub next_boot {
	my ($how) = @_;

	$goes_on = 1;
	$state->{boot}++;
	save();
	return system 'systemctl', 'reboot' if $how eq 'orderly';
	system 'sync', $STATE;
	put('/proc/sysrq-trigger', 'b');
	sleep $PATIENCE;
}

# The output of a command, from stdout and stderr.
sub said { return (ran(@_))[0] }

# The output of a command and the exit status.
sub ran {
	my (@command) = @_;
	my $pid = open my $fh, '-|' // die "fork: $!\n";

	if ($pid == 0) {
		open STDERR, '>&', \*STDOUT;
		open STDIN, '<', '/dev/null';
		exec @command or POSIX::_exit(127);
	}
	local $/;
	my $out = <$fh> // '';
	close $fh;
	return ($out, $? >> 8);
}

sub until_true {
	my ($what, $code) = @_;
	my $until = time + $PATIENCE;
	my $got;

	until ($got = $code->()) {
		if (time > $until) {
			note("gave up after $PATIENCE s: $what");
			return undef;
		}
		select undef, undef, undef, 0.05;
	}
	return $got;
}

# ---- a client ----

# Timeouts of the browser and of runs may be too short for an emulated processor with other
# load: a failure by a timeout alone is tried again.
my $slow = qr/"RUN_TIMEOUT"|no answer in \d+ s|kept the browser from answering|net::ERR_ABORTED|"(?:\w+_)?TIMEOUT"/;
sub tried {
	my ($what, $good, $try) = @_;
	my $v;

	for (1 .. 5) {
		$v = $try->();
		last if $good->($v) || json_of($v) !~ $slow;
		note("$what, once more: ", json_of($v->{error} // $v));
	}
	return $v;
}
sub succeeds { my ($v) = @_; return ($v->{status} // '') eq 'succeeded' }

sub client {
	my $to = IO::Socket::UNIX->new(Peer => '/run/paddock/paddock.sock') or return undef;
	my $self = {to => $to, id => 0, got => {}};

	$to->autoflush(1);
	bless $self, 'Guest::Client';
	$self->ask(initialize => {protocolVersion => '2025-06-18', capabilities => {}, clientInfo => {name => 'guest', version => '1'}});
	$self->answer(1) or return undef;
	print $to json_of({jsonrpc => '2.0', method => 'notifications/initialized'}), "\n";
	return $self;
}

sub http { # the whole answer to GET PATH, or to METHOD with BODY and FIELDS
	my ($path, $method, $body, %fields) = @_;
	my $to = IO::Socket::INET->new(PeerAddr => '127.0.0.1:8080') or return '';

	$fields{'Content-Length'} = length $body if defined $body;
	print $to join("\r\n", ($method // 'GET') . " $path HTTP/1.1", 'Host: 127.0.0.1:8080', 'Connection: close',
		       map({ "$_: $fields{$_}" } sort keys %fields), '', $body // '');
	local $/;
	return <$to> // '';
}

package Guest::Client;

sub ask {
	my ($self, $method, $params) = @_;
	my $id = ++$self->{id};

	print {$self->{to}} Guest::json_of({jsonrpc => '2.0', id => $id, method => $method, params => $params}), "\n";
	return $id;
}

sub answer { # to ID, by the deadline; undef: the connection was closed before
	my ($self, $id) = @_;
	my $until = time + $PATIENCE;

	while (!$self->{got}{$id}) {
		my $line = readline $self->{to};

		return undef if !defined $line || time > $until;
		my $m = Guest::json_to($line) // next;
		$self->{got}{$m->{id}} = $m if defined $m->{id} && !$m->{method};
	}
	return delete $self->{got}{$id};
}

sub ask_run {
	my ($self, $template, $inputs, %options) = @_;

	return $self->ask('tools/call', {name => 'run_task_template', arguments => {templateId => $template, inputs => $inputs,
		options => {mode => 'sync', %options}}});
}

# The view of a run, or of a refusal.
sub view {
	my ($self, $id) = @_;
	my $m = $self->answer($id) // return {};

	return $m->{result}{structuredContent} // $m;
}

# The view of RUN after the end.
sub ended {
	my ($self, $run) = @_;

	return Guest::until_true("the end of $run", sub {
		my $v = $self->tool(get_task_run => {runId => $run});
		return ($v->{status} // '') =~ /^(?:queued|running)$/ ? undef : $v }) // {};
}

sub run { my $self = shift; return $self->view($self->ask_run(@_)) }
sub tool { my ($self, $name, $arguments) = @_; return $self->view($self->ask('tools/call', {name => $name, arguments => $arguments // {}})) }

1;
