#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A stand-in for paddock-browser, without a browser: pages are what their
# addresses say. What it is told goes, a JSON object a line, to its own file
# with ".told".
use strict;
use warnings;
use JSON::PP;

my $json = JSON::PP->new->canonical->utf8;
my $alphabet = '234567abcdefghijklmnopqrstuvwxyz';
my ($made, %session, %tab, %waiting) = (0);

open my $end, '+<&=', 3 or die "fd 3: $!";
open my $told, '>>', "$0.told" or die "$0.told: $!";
$told->autoflush;

sub note { print $told $json->encode($_[0]), "\n" }

sub pack_int { my ($n) = @_; return $n < 128 ? chr $n : pack 'CN', 0xce, $n }
sub pack_str { return pack('Cn', 0xda, length $_[0]) . $_[0] }

sub answer {
	my ($seq, $ok, $value) = @_;
	my $text = $json->encode($value);
	my $size = 60_000;

	syswrite $end, "\x95\x03" . pack_int($seq) . pack_int($ok) .
	    pack_int(length $text) . pack_str(substr $text, 0, $size);
	for (my $at = $size; $at < length $text; $at += $size) {
		syswrite $end, "\x92\x02" . pack_str(substr $text, $at, $size);
	}
}

# What no broker of ours does, by the last word of an address.
sub head { my ($seq, $ok, $total, $text) = @_;
	   return "\x95\x03" . pack_int($seq) . pack_int($ok) .
	       pack_int($total) . pack_str($text) }
sub raw { my ($text) = @_; return sub { syswrite $end, head($_[0], 1, length $text, $text) } }

my $flood = 'x' x 60_000;
my $junk; # is what sessions are listed as
my $fine = {success => JSON::PP::true, partial => JSON::PP::false, page => {url => 'x', title => 'x'}};
my %evil = (
    garbage => sub { syswrite $end, join '', map { chr $_ * 37 % 256 } 0 .. 999 },
    twice => sub { answer($_[0], 1, $fine) for 1 .. 2 },
    other => sub { answer($_[0] + 7, 1, $fine) },
    early => sub { answer(1, 1, $fine) },
    within => sub { syswrite $end, head($_[0], 1, 9, '{'); answer($_[0], 1, $fine) },
    worker => sub { syswrite $end, "\x91\x10" },
    half => sub { syswrite $end, head($_[0], 1, 9, '{'); exit 3 },
    chunks => sub { syswrite $end, "\x92\x02" . pack_str($flood) or exit 3 for 1 .. 1_700 },
    larger => sub { syswrite $end, head($_[0], 1, 5 << 20, $flood) },
    longer => sub {
	    syswrite $end, head($_[0], 1, 4 << 20, $flood);
	    syswrite $end, "\x92\x02" . pack_str($flood) or exit 3 for 1 .. 1_700;
    },
    shut => sub { close $end; sleep 600 },
    deaf => sub { sleep 600 },
    mute => sub { $waiting{$_[0]} = {%{$_[1]}, mute => 1} }, # when it is called off
    lists => sub { $junk = 1; answer($_[0], 1, $fine) },
    nul => raw("\0" . '{"a":' . '1' x 5_000 . '}'),
    empty => raw(''),
    array => raw('["a"]'),
    deep => raw('{"a":' x 500 . '1' . '}' x 500),
    bytes => raw("{\"a\":\"\xff\xfe\"}"),
    failing => sub { syswrite $end, head($_[0], 0, 2, '{}') },
    listing => sub { answer($_[0], 0, {code => 'X', message => 'm', details => [[$flood]]}) },
    inventing => sub { answer($_[0], 0, {code => 'EVIL', message => 'm' x 100_000,
					 details => {$flood => $flood}}) },
    lying => sub { answer($_[0], 1, {sessionId => 'sess_' . 'z' x 9_000, tabId => 7,
				     page => 'none', $flood => $flood}) },
);

sub refuse { my ($seq, $code, $m, %d) = @_;
	 return answer($seq, 0, {code => $code, message => $m // $code,
				 %d ? (details => \%d) : ()}) }

# One element of a msgpack array at $_[0], which is cut.
sub element {
	my $t = ord substr $_[0], 0, 1, '';

	return $t if $t < 0x80;
	return substr $_[0], 0, $t & 0x1f, '' if $t >= 0xa0 && $t < 0xc0;
	for ([0xcc, 'C', 1], [0xcd, 'n', 2], [0xce, 'N', 4], [0xcf, 'Q>', 8]) {
		return unpack $_->[1], substr $_[0], 0, $_->[2], ''
		    if $t == $_->[0];
	}
	for ([0xd9, 'C', 1], [0xda, 'n', 2], [0xdb, 'N', 4]) {
		next if $t != $_->[0];
		my $n = unpack $_->[1], substr $_[0], 0, $_->[2], '';
		return substr $_[0], 0, $n, '';
	}
	die sprintf "a %02x", $t;
}

sub id { my ($prefix) = @_;
	 my $n = ++$made;
	 return "${prefix}_" . substr('2' x 24 . substr($alphabet, $n / 32 % 32, 1) .
				      substr($alphabet, $n % 32, 1), -26) }

sub session_of {
	my ($b) = @_;
	my $a = $b->{args};
	my $id = $a->{tabId} ? ($tab{$a->{tabId}} // return)->{session}
	    : $a->{sessionId} // $b->{session};

	($id) = grep { ($session{$_}{run} // '') eq ($b->{run} // '-') } keys %session
	    unless $id;
	return $id if !defined $id;
	return $session{$id} && $session{$id}{requestor} eq $b->{requestor} ? $id : undef;
}

sub page { my ($url) = @_; return {url => $url, title => "Page of $url", type => 'other'} }

my %action = (
    create_tab => sub {
	    my ($seq, $b) = @_;
	    my $id = session_of($b);

	    return refuse($seq, 'SESSION_NOT_FOUND') if $b->{args}{sessionId} && !$id;
	    if (!$id) {
		    $id = id('sess');
		    $session{$id} = {sessionId => $id, requestor => $b->{requestor},
				     trust => $b->{trust}, run => $b->{run},
				     kept => $b->{run} ? JSON::PP::false : JSON::PP::true,
				     createdAt => 1, lastUsedAt => 1,
				     expiresAt => 2, tabs => []};
	    }
	    my $t = id('tab');
	    $tab{$t} = {session => $id};
	    answer($seq, 1, {tabId => $t, sessionId => $id, partial => JSON::PP::false,
			     url => $b->{args}{url} // 'about:blank'});
    },
    navigate => sub {
	    my ($seq, $b) = @_;
	    my $url = $b->{args}{url};

	    exit 3 if $url =~ /die/;
	    return $evil{$1}->($seq, $b) if $url =~ m{^http://evil/(\w+)$};
	    syswrite $end, "\xc1" if $url =~ /nonsense/;
	    if ($url =~ /wait/) {
		    $waiting{$seq} = $b;
		    return;
	    }
	    return refuse($seq, 'URL_NOT_ALLOWED', 'no', url => $url, reason => 'private')
		if $url =~ /private/;
	    $url .= 'x' x 300_000 if $url =~ /large/;
	    answer($seq, 1, {success => JSON::PP::true, partial => JSON::PP::false,
			     statusCode => 200, page => page($url)});
    },
    keep_session => sub {
	    my ($seq, $b) = @_;
	    my $id = session_of($b) // return refuse($seq, 'SESSION_NOT_FOUND');

	    $session{$id}{kept} = JSON::PP::true;
	    answer($seq, 1, {sessionId => $id});
    },
    close_session => sub {
	    my ($seq, $b) = @_;
	    my $id = session_of($b) // return refuse($seq, 'SESSION_NOT_FOUND');

	    delete $session{$id};
	    answer($seq, 1, {success => JSON::PP::true});
    },
    list_sessions => sub {
	    my ($seq, $b) = @_;

	    answer($seq, 1, {sessions => [grep { $_->{requestor} eq $b->{requestor} }
					  values %session]});
    },
);
my %request = (
    cancel => sub {
	    my ($seq, $b) = @_;

	    my $w = delete $waiting{$b->{seq}};

	    refuse($b->{seq}, 'RUN_CANCELED') if $w;
	    answer($seq, 1, {}) unless $w && $w->{mute};
    },
    run_ended => sub {
	    my ($seq, $b) = @_;
	    my @gone = grep { ($session{$_}{run} // '') eq $b->{run} &&
				  !$session{$_}{kept} } keys %session;

	    delete @session{@gone};
	    for (grep { ($waiting{$_}{run} // '') eq $b->{run} } keys %waiting) {
		    delete $waiting{$_};
		    refuse($_, 'RUN_CANCELED');
	    }
	    answer($seq, 1, {closed => scalar @gone});
    },
    requestor_gone => sub {
	    my ($seq, $b) = @_;
	    my @gone = grep { $session{$_}{requestor} eq $b->{requestor} } keys %session;

	    delete @session{@gone};
	    answer($seq, 1, {closed => scalar @gone});
    },
    status => sub {
	    my ($seq) = @_;
	    my (%by, %tabs);

	    $tabs{$_->{session}}++ for values %tab;
	    for (values %session) {
		    $by{$_->{requestor}}{sessions}++;
		    $by{$_->{requestor}}{tabs} += $tabs{$_->{sessionId}} // 0;
	    }
	    answer($seq, 1, {running => JSON::PP::true, version => 'Fake/1', starts => 2,
			     sandboxed => JSON::PP::true, crashes => 1, calls => scalar keys %waiting,
			     refusals => 0, sessions => scalar keys %session,
			     tabs => scalar keys %tab, requestors => \%by});
    },
    sessions => sub {
	    my ($seq, $b) = @_;

	    return answer($seq, 1, {sessions => [undef, 7, [[]], {sessionId => 7}, {},
		{%{(values %session)[0]}, trust => ['local'], kept => 'yes'}]}) if $junk;
	    answer($seq, 1, {sessions => [grep { $_->{requestor} eq $b->{requestor} }
					  values %session]});
    },
);

sub obey {
	my ($seq, $tool, $b) = @_;

	note({tool => $tool, %$b});
	return ($request{$tool} // $action{$tool})->($seq, $b)
	    if $request{$tool} || $action{$tool};
	return refuse($seq, 'SESSION_NOT_FOUND') unless session_of($b);
	answer($seq, 1, {success => JSON::PP::true});
}

note({started => [@ARGV]});
exit 3 if grep { /never/ } @ARGV;
my ($seq, $tool, $total, $body, $frame);
while (sysread $end, $frame, 65536) {
	my @m;
	my $n = ord(substr $frame, 0, 1, '') & 0x0f;

	push @m, element($frame) for 1 .. $n;
	if ($m[0] == 23) {
		(undef, $seq, $tool, $total, $body) = @m;
	} else {
		$body .= $m[1];
	}
	obey($seq, $tool, $json->decode($body)) if length $body == $total;
}
