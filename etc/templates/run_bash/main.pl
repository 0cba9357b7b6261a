#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Runs the bash script that it is given, and tells what that printed and how it
# ended.
use strict;
use warnings;
use Config;
use Cwd qw(getcwd);
use Encode qw(decode FB_DEFAULT);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use IO::Select;
use JSON::PP;
use Fcntl qw(O_CREAT O_EXCL O_TRUNC O_WRONLY);
use POSIX qw(WNOHANG setsid);
use Time::HiRes qw(time);

my $MOST = 65536; # bytes of an output that are told: as many of its end as of its beginning
my $WHOLE = 8 << 20; # bytes of a longer one that are kept, as an artifact
my $LOGGED = 4096; # bytes of an output that are logged at a time
my $COPIED = 1 << 20; # larger files are not copied, and can only be read
# files in the cage, which tell the server what was printed when a limit ends this process, too
my $PRINTED = ($ENV{PADDOCK_TEMPLATE_DIR} // '') eq '/template' ? '/dev/shm/.printed' : undef;
our $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub put {
	my ($name, $text) = @_;

	make_path(dirname($name));
	open my $file, '>', $name or die "$name: $!\n";
	utf8::encode($text);
	print $file $text;
	close $file or die "$name: $!\n";
}

# A file that the run was given: small ones are the script's to change.
sub place {
	my ($name, $given) = @_;

	utf8::encode($_) for $name, $given;
	make_path(dirname($name));
	if (-s $given > $COPIED) {
		symlink getcwd() . "/$given", $name or die "$name: $!\n";
	} else {
		copy($given, $name) or die "$name: $!\n";
	}
}

# A file without a name: any name may be one that the script was given.
sub unnamed {
	my ($text) = @_;

	open my $file, '+>', undef or die "a file for standard input: $!\n";
	utf8::encode($text);
	print $file $text;
	seek $file, 0, 0 or die "a file for standard input: $!\n";
	return $file;
}

open our $say, '>&=', 3 or die "descriptor 3: $!\n";
open our $answers, '<&=', 4 or die "descriptor 4: $!\n";
$say->autoflush(1);

# What the script prints.
our ($open, $log_at);
my (%said, %name, $logs);

sub hear {
	my ($out, $err) = @_;

	%name = (fileno $out => 'stdout', fileno $err => 'stderr');
	%said = map { $_ => {whole => '', last => '', fresh => '', size => 0, missed => 0, file => file_of($_)} } qw(stdout stderr);
	$open = IO::Select->new($out, $err);
	$logs = 0;
	$log_at = time + 0.02; # the answer of quick code has it all
}

sub file_of {
	my ($name) = @_;
	my $file;

	return defined $PRINTED && sysopen($file, "$PRINTED.$name", O_WRONLY | O_CREAT | O_TRUNC, 0600) ? $file : undef;
}

# The size, and then as much of the beginning and of the end as is told. Where the memory
# is full, less is kept.
sub remember {
	my ($one, $data, $before) = @_;
	my $put = sub { sysseek $one->{file}, $_[0], 0; syswrite $one->{file}, $_[1] };

	$put->(8 + $before, substr $data, 0, $MOST - $before) if $before < $MOST;
	$put->(8 + $MOST / 2, $one->{last}) if $one->{size} > $MOST;
	$put->(0, pack 'Q', $one->{size});
}

sub text_of { return decode('UTF-8', $_[0], FB_DEFAULT) }

sub take {
	my ($from) = @_;
	my $one = $said{$name{fileno $from}};
	my $n = sysread $from, my $data, 65536;

	return $open->remove($from) unless $n;
	$one->{whole} .= substr $data, 0, $WHOLE - $one->{size} if $one->{size} < $WHOLE;
	$one->{size} += $n;
	$one->{last} .= $data;
	substr $one->{last}, 0, -$MOST / 2, '' if length $one->{last} > $MOST / 2;
	remember($one, $data, $one->{size} - $n) if $one->{file};
	$one->{fresh} .= $data;
	my $over = length($one->{fresh}) - $LOGGED;
	return if $over <= 0;
	$one->{missed} += $over;
	substr $one->{fresh}, 0, $over, '';
}

sub is_fresh { return grep { $_->{fresh} ne '' } values %said }

# While it runs: a run that meets a limit has no answer.
sub log_fresh {
	for my $name (qw(stdout stderr)) {
		my $one = $said{$name};

		next if $one->{fresh} eq '';
		my $cut = $one->{missed} ? "($one->{missed} bytes before this are not logged)\n" : '';
		my $text = text_of($one->{fresh}) =~ s/\n\z//r;
		print $say $json->encode({log => {level => 'info', message => "$name: $cut$text"}}), "\n";
		@$one{qw(fresh missed)} = ('', 0);
	}
	$logs = 1;
	$log_at = time + 0.1;
}

# The answer to what was said with the id ID.
our $answer_to = sub {
	my ($id) = @_;

	while (my $line = <$answers>) {
		my $answer = $json->decode($line);

		return $answer if ($answer->{id} // '') eq $id;
	}
	return {};
};

# What is longer than what is told is an artifact: its name, unless it is refused. No file
# of the code's in out/ has that name.
sub keep {
	my ($name, $data) = @_;
	my ($called) = grep { !-e "out/$_" && !-l "out/$_" } "$name.txt", map { "$name-$_.txt" } 2 .. 99;
	my $path = ".$name.$$." . time;

	defined $called or return;
	sysopen my $file, $path, O_WRONLY | O_CREAT | O_EXCL or return;
	my $written = print {$file} $data;
	close $file && $written or return; # its memory is full
	print $say $json->encode({artifact => {id => $name, path => $path, name => $called, mimeType => 'text/plain'}}), "\n";
	my $answer = $answer_to->($name);
	unlink $path;
	return $answer->{ok} ? $called : undef;
}

sub told {
	my ($name) = @_;
	my ($size, $whole) = @{$said{$name}}{qw(size whole)};

	return text_of($whole) if $size <= $MOST;
	# no character is cut in two
	my $first = substr($whole, 0, $MOST / 2) =~ s/[\xC0-\xFF][\x80-\xBF]{0,3}\z//r;
	my $last = $said{$name}{last} =~ s/\A[\x80-\xBF]{1,3}//r;
	my $left = $size - length($first) - length $last;
	my $most = $size <= $WHOLE ? 'the whole is' : 'its first ' . ($WHOLE >> 20) . ' MiB are';
	my $kept = keep($name, $whole);
	my $where = defined $kept ? "; $most the artifact $kept" : '';

	return text_of($first) . "\n[$left bytes are left out here$where]\n" . text_of($last);
}

sub name_of_signal { return 'SIG' . (split ' ', $Config{sig_name})[$_[0]] }

# What is left to read when the script and its children have ended.
sub drain {
	while ($open->count && (my @ready = $open->can_read(0))) {
		take($_) for @ready;
	}
	log_fresh() if $logs;
}

# Seconds until the time UNTIL, if any, or until what is fresh is to be logged.
sub wait_for {
	my ($until) = @_;
	my @times = defined $until ? $until : ();

	push @times, $log_at if is_fresh();
	return if !@times;
	my $left = (sort { $a <=> $b } @times)[0] - time;
	return $left < 0 ? 0 : $left;
}

# Of ours, behind what the script wrote to its standard error.
sub add_line {
	my ($answer, $line) = @_;

	$answer->{stderr} .= ($answer->{stderr} =~ /[^\n]\z/ ? "\n" : '') . "$line\n";
}

sub add_result {
	my ($answer) = @_;

	open my $file, '<', 'result.json' or return;
	my $result = eval { $json->decode(do { local $/; <$file> }) };

	if ($@) {
		my $why = $@ =~ s/ at \S+ line \d+\.\n\z//r;

		add_line($answer, "result.json is no JSON: $why");
	} else {
		$answer->{result} = $result;
	}
}

# What the script printed, the STATUS with which it ended and, where that does not say
# it, HOW.
sub answer_of {
	my ($status, $how) = @_;
	my %answer = (exitCode => $status, map { $_ => told($_) } qw(stdout stderr));
	my %cut = map { $_ => $said{$_}{size} } grep { $said{$_}{size} > $MOST } keys %said;

	$answer{truncated} = \%cut if %cut;
	$how = 'ended by SIGKILL' if $status == 137;
	$how .= ': where the code did not ask for that, it took more memory than it may have' if $status == 137;
	add_line(\%answer, $how) if defined $how;
	add_result(\%answer);
	return \%answer;
}

# In the order in which its schema has them.
sub answer_text {
	my ($answer) = @_;

	return '{' . join(', ', map { qq("$_": ) . $json->encode($answer->{$_}) }
		grep { exists $answer->{$_} } qw(stdout stderr exitCode result truncated notebook)) . '}';
}

# The script, in a session of its own, so that all it starts can be ended.
sub start {
	my ($inputs, $stdin, $out, $err) = @_;
	my $pid = fork // die "fork: $!\n";

	return $pid if $pid > 0;
	setsid();
	POSIX::dup2(fileno $stdin, 0);
	POSIX::dup2(fileno $out, 1);
	POSIX::dup2(fileno $err, 2);
	POSIX::close($_) for 3 .. 63;
	my @args = map { my $arg = $_; utf8::encode($arg); $arg } @{$inputs->{args} // []};
	exec 'bash', 'main.sh', @args or do {
		my $why = "bash cannot be started: $!; pass large texts in files or stdin\n";
		syswrite STDERR, $why;
		POSIX::_exit(127);
	};
}

sub run_once {
	my ($inputs) = @_;
	my ($status, $how);

	place($_, $inputs->{files}{$_}) for keys %{$inputs->{files} // {}};
	put('main.sh', $inputs->{code});
	my $stdin = unnamed($inputs->{stdin} // '');
	pipe my $out, my $to_out or die "pipe: $!\n";
	pipe my $err, my $to_err or die "pipe: $!\n";
	pipe my $ended, my $alive or die "pipe: $!\n";
	# Its end wakes who waits; that it was stopped does not.
	my $on_end = POSIX::SigAction->new(sub { close $alive }, POSIX::SigSet->new, POSIX::SA_NOCLDSTOP);
	$on_end->safe(1);
	POSIX::sigaction(POSIX::SIGCHLD, $on_end) or die "sigaction: $!\n";
	my $pid = start($inputs, $stdin, $to_out, $to_err);
	close $_ for $to_out, $to_err;
	hear($out, $err);
	my $until = defined $inputs->{timeoutMs} ? time + $inputs->{timeoutMs} / 1000 : undef;

	while (!defined $status) {
		if (defined $until && $until <= time) {
			kill KILL => $pid; # it may lead no group yet
			waitpid $pid, 0;
			$status = 124;
			$how = "ended after $inputs->{timeoutMs} ms, which is its timeoutMs";
			last;
		}
		for my $from (IO::Select->new($open->handles, $ended)->can_read(wait_for($until))) {
			take($from) if $from != $ended;
		}
		log_fresh() if is_fresh() && time >= $log_at;
		$status = $? & 127 ? 128 + ($? & 127) : $? >> 8
		    if waitpid($pid, WNOHANG) == $pid;
		$how = 'ended by ' . name_of_signal($? & 127) if defined $status && $? & 127;
	}
	kill KILL => -$pid; # what it left behind
	drain();
	print answer_text(answer_of($status, $how));
}

my $given = do { local $/; <STDIN> };
if (($given // '') eq '') { # a resident
	require(dirname(__FILE__) . '/notebook.pl');
	serve();
} else {
	run_once($json->decode($given));
}
