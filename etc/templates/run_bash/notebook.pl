# SPDX-License-Identifier: Apache-2.0
# notebook.pl - a notebook of bash: cells that come one after the other, and share a shell.
# main.pl loads the file when the inputs are those of a resident.
#
# The shells are in notebook.sh. After each cell a state, a fork of the shell, waits; a cell
# that is ended before its end is undone by a new shell from the state before. What shells
# report is a claim: code of a cell can write reports as well, and harms its own notebook.
use strict;
use warnings;
use feature qw(state);
use Errno qw(EAGAIN EINTR);
use File::Path qw(remove_tree);
use POSIX qw(SIGKILL);
use Time::HiRes qw(time);

our ($json, $say, $answers, $open, $log_at, $answer_to); # of main.pl

my $KEPT = 1; # cells that can be undone
my $PATIENCE = 20; # seconds for a shell of ours to fork, or to begin
my $FORK_AFTER = 0.004; # seconds: the answer's way to the client needs the processors first
my $REPORTED = 4096; # bytes of reports that wait to be read, at most
my $NAMED = 5; # files that are named at most
my $EXITING = 4; # of a process's flags
my $PIDFD_OPEN = 434; # its number on all machines
my $in_cage = getppid == 1; # everything here that has lost its parent is the notebook's

my $template = dirname(__FILE__);
my $folder = getcwd();
my ($now, @states, @dying, $root, $waiter, $head, $orders, $lost, $unsafe);
my $serial = 0;
my ($reports, $to_reports);
my $unread = ''; # of the reports
my ($line_part, @lines) = (''); # of descriptor 4

# ---- processes ----

# A descriptor that can be read once the process PID has ended; nothing if it has ended.
sub end_of {
	my ($pid) = @_;
	my $fd = syscall $PIDFD_OPEN, 0 + $pid, 0;

	return if $fd < 0;
	open my $end, '<&=', $fd or die "pidfd: $!\n";
	return $end;
}

sub has_ended {
	my ($process) = @_;

	return !defined $process->{end} || IO::Select->new($process->{end})->can_read(0);
}

sub process { return {pid => $_[0], end => scalar end_of($_[0])} }

sub slurp { open my $file, '<', $_[0] or return ''; local $/; return scalar(<$file>) // '' }

# The parent of a process, the session, and whether only the status is left.
sub process_of {
	my ($pid) = @_;
	my ($is, $parent, undef, $session) = slurp("/proc/$pid/stat") =~ /\) (\S) (\d+) (\d+) (\d+)/ or return;

	return {parent => $parent, session => $session, dead => scalar $is =~ m{[ZX]}};
}

sub pids {
	opendir my $proc, '/proc' or return;
	return grep { /^\d+$/ } readdir $proc;
}

# Is PID of this notebook? Its parents have the answer, or its session.
sub is_ours {
	my ($all, $pid) = @_;

	for (my $at = $pid; $all->{$at}; $at = $all->{$at}{parent}) {
		return 1 if $at == $$ || $all->{$at}{session} == $root->{pid} || $in_cage && $all->{$at}{parent} == 1;
	}
	return;
}

# The processes that cells have left.
sub rest {
	@dying = grep { !has_ended($_) } @dying;
	my %spared = map { $_ => 1 } $$, map { $_->{pid} } grep { defined } $root, $waiter, $head, @states, @dying;
	my @pids = pids();

	return if !grep { !$spared{$_} } @pids;
	my $all = {map { my $found = process_of($_); $found ? ($_ => $found) : () } @pids};
	return grep { !$spared{$_} && !$all->{$_}{dead} && is_ours($all, $_) } keys %$all;
}

# What forks while it is looked for is stopped first. The number of those ended.
sub end_rest {
	my %stopped;

	for (1 .. 1000) {
		my @more = grep { !exists $stopped{$_} } rest() or last;

		kill STOP => @more;
		@stopped{@more} = ();
	}
	kill KILL => keys %stopped;
	for (1 .. 1000) {
		last if !%stopped || !rest();
		select undef, undef, undef, 0.001;
	}
	return scalar keys %stopped;
}

sub end_head {
	kill KILL => $head->{pid} if $head;
	IO::Select->new($head->{end})->can_read($PATIENCE) if $head && $head->{end};
	undef $head;
}

sub end_all {
	undef $_ for $head, $waiter;
	@states = ();
	end_rest();
	if ($root) {
		kill KILL => $root->{pid};
		waitpid $root->{pid}, 0;
	}
	undef $root;
}

# ---- reports and orders ----

# The next report, if there is one: (word, fields).
sub next_report {
	if ($unread !~ /\n/) {
		my $n = sysread $reports, $unread, $REPORTED - length $unread, length $unread;

		die "reports: $!\n" if !defined $n && $! != EAGAIN && $! != EINTR;
		$unread = '' if length $unread == $REPORTED && $unread !~ /\n/; # none of ours
	}
	return $unread =~ s/\A([^\n]*)\n// ? split / /, $1 : ();
}

# The next report that IS_IT accepts, while PROCESS lives. Seconds are counted one by one: all
# may be stopped meanwhile, for hours.
sub await {
	my ($process, $is_it) = @_;
	my $waited = 0;

	while ($waited < $PATIENCE) {
		my $ended = has_ended($process);

		$waited++ if !IO::Select->new($reports, $process->{end} // ())->can_read($ended ? 0 : 1);
		while (my @report = next_report()) {
			return \@report if $is_it->(@report);
		}
		return if $ended;
	}
	return;
}

# Is what a report says the id of one of the shells? A cell could name any process.
sub is_shell {
	my ($pid) = @_;

	return if $pid !~ /\A\d{1,9}\z/ || $pid < 2 || $pid == $$;
	my $found = process_of($pid);
	return $found && $found->{session} == $root->{pid};
}

sub order { syswrite $orders->[1], "@_\n" }

sub new_pipe {
	pipe my $from, my $to or die "pipe: $!\n";
	return [$from, $to];
}

# ---- states ----

# An empty state: a new shell.
sub begin {
	my $wake = new_pipe();
	my $text = slurp("$template/notebook.sh");
	my $pid = fork // die "fork: $!\n";

	if ($pid == 0) {
		setsid();
		open my $null, '+<', '/dev/null' or POSIX::_exit(127);
		POSIX::dup2(fileno $null, $_) for 0 .. 2;
		POSIX::close($_) for 3 .. 63;
		exec 'bash', '-c', $text, 'main.sh', "/proc/" . getppid . '/fd', fileno $to_reports, fileno $wake->[0], "$folder/main.sh", $^X
		    or POSIX::_exit(127);
	}
	$root = {%{process($pid)}, wake => $wake};
	@states = ({%$root, cell => 0});
	$now = 0;
	await($root, sub { $_[0] eq 'asleep' && $_[1] == fileno $wake->[0] }) or die "bash cannot be started\n";
	wake() or die "bash cannot fork\n";
}

# A head from the last state.
sub wake {
	my $state = $states[-1];

	forget($waiter) if $waiter && $waiter->{pid} != $state->{pid};
	return if has_ended($state);
	$orders = new_pipe();
	syswrite $state->{wake}[1], fileno($orders->[0]) . "\n";
	$waiter = $state;
	my $begun = await($state, sub { $_[0] eq 'idle' && $_[1] == 0 && is_shell($_[2]) }) or return;
	$head = process($begun->[2]);
	put_back($state->{places} // {});
	return 1;
}

# Where the head is in each regular file that it has open: {descriptor => offset}. Forks share
# the offsets.
sub places {
	my %at;

	opendir my $fds, "/proc/$head->{pid}/fd" or return {};
	for my $fd (grep { /^\d+$/ && $_ > 2 && -f "/proc/$head->{pid}/fd/$_" } readdir $fds) {
		($at{$fd}) = slurp("/proc/$head->{pid}/fdinfo/$fd") =~ /^pos:\s+(\d+)/m;
	}
	return \%at;
}

sub put_back {
	my ($were) = @_;
	my $are = places();
	my @moved = grep { defined $are->{$_} && $are->{$_} != $were->{$_} } keys %$were;

	order('seek', map { "$_=$were->{$_}" } @moved) if @moved;
}

# The head goes on from the state before; without any, all begins anew, and why is said.
sub restore {
	my ($cell) = @_;

	end_head();
	end_rest();
	while (@states) {
		my $was = $now;
		$now = $states[-1]{cell};
		return $now == $was if wake();
		$now = $was;
		end_head();
		end_rest();
		forget(pop @states);
	}
	end_all();
	$lost = "the shell that kept the state before cell $cell has ended";
	begin();
}

# No state of the list has the process that is forgotten, unless as the parent of the head.
sub forget {
	my ($state) = @_;

	return if $state->{pid} == $root->{pid} || grep { $_->{pid} == $state->{pid} } @states;
	return if $head && $waiter && $waiter->{pid} == $state->{pid};
	kill KILL => $state->{pid};
	push @dying, $state; # no process of a cell
}

# The head as it is now becomes a state, too.
sub keep_state {
	my ($cell) = @_;
	my $wake = new_pipe();

	order('sleep', fileno $wake->[0]);
	my $asleep = await($head, sub { $_[0] eq 'asleep' && $_[1] == fileno $wake->[0] && is_shell($_[2]) });
	return if !$asleep;
	push @states, {%{process($asleep->[2])}, wake => $wake, cell => $cell};
	$now = $cell;
	forget(shift @states) while @states > $KEPT + 1;
	return 1;
}

# ---- the lines of descriptor 4 ----

sub read_lines {
	my $n = sysread $answers, my $data, 65536;

	return 0 if !$n && ($n // 1) == 0;
	$line_part .= $data // '';
	return 1 if index($data // '', "\n") < 0;
	push @lines, $json->decode($1) while $line_part =~ s/\A([^\n]*)\n//;
	return 1;
}

# The next line that IS_IT accepts; nothing: there will be none.
sub next_line {
	my ($is_it) = @_;

	while (1) {
		for my $i (0 .. $#lines) {
			return splice @lines, $i, 1 if $is_it->($lines[$i]);
		}
		read_lines() or return;
	}
}

sub say_line { print $say $json->encode({@_}), "\n" }

# ---- files ----

# Those that have changed since MARK, a time of the file system's, by their names.
sub changed {
	my ($mark, $placed) = @_;
	my (@names, @folders);

	push @folders, $folder;
	while (defined(my $in = shift @folders)) {
		opendir my $dir, $in or next;
		for my $name (sort grep { !/\A\.\.?\z/ } readdir $dir) {
			my $path = "$in/$name";
			my $short = substr $path, 1 + length $folder;
			my @stat = Time::HiRes::lstat($path) or next;

			next if $short eq 'in' || $short eq 'out';
			push @folders, $path if -d _ && !-l _;
			push @names, $short if $stat[10] >= $mark && ($placed->{$short} // 0) != $stat[10] && !-d _;
			return @names if @names > $NAMED;
		}
	}
	return @names;
}

sub files_told {
	my @names = @_ or return '';
	my $more = @names > $NAMED ? ', and more' : '';

	splice @names, $NAMED;
	return "; files are not put back, and these have changed: " . join(', ', map { text_of($_) } @names) . $more;
}

# The time of the file system's clock.
sub mark {
	state $file = unnamed('');

	syswrite $file, '.';
	sysseek $file, 0, 0;
	return (Time::HiRes::stat($file))[10];
}

# ---- cells ----

# All that a cell finds. {stdin, args} are open files, {placed} has the times of new files.
sub prepare {
	my ($inputs) = @_;
	my @names = ('main.sh', keys %{$inputs->{files} // {}});

	chdir $folder or die "the working folder: $!\n";
	remove_tree('main.sh', 'result.json');
	place($_, $inputs->{files}{$_}) for keys %{$inputs->{files} // {}};
	put('main.sh', $inputs->{code});
	my $args = @{$inputs->{args} // []} ? unnamed(join '', map { "$_\0" } @{$inputs->{args}}) : undef;
	$_->flush for grep { defined } $args;
	state $nothing = unnamed('');
	my $stdin = defined $inputs->{stdin} ? unnamed($inputs->{stdin}) : $nothing;
	$stdin->flush;
	my %placed = map { my $name = $_; utf8::encode($name); $name => (Time::HiRes::lstat($name))[10] // 0 } @names;
	return {stdin => $stdin, args => $args, placed => \%placed, mark => mark()};
}

# How the cell ended: (word, status). The word is idle or exit, as reported, died, late, or
# the reason of who cancelled.
sub follow {
	my ($id, $until) = @_;
	my $wake = fileno $waiter->{wake}[0];

	while (1) {
		my $why = cancelled($id);

		return $why, 0 if defined $why;
		my @ends = map { $_->{end} // () } $head, $root->{told} ? () : $root;
		IO::Select->new($open->handles, $reports, $answers, @ends)->can_read(wait_for($until));
		take($_) for IO::Select->new($open->handles)->can_read(0);
		log_fresh() if is_fresh() && time >= $log_at;
		while (my ($word, $of, $field, $status) = next_report()) {
			return 'died', $field & 255 if $word eq 'ended' && $of eq $wake && has_ended($head);
			next if $word !~ /\A(?:idle|exit)\z/ || $of ne $serial || ($status // '') !~ /\A\d{1,3}\z/;
			return 'died', root_status() if root_ends();
			return $word, $status & 255;
		}
		return 'died', root_status() if !$root->{told} && has_ended($root);
		return 'died', died_status() if has_ended($head);
		return 'late', 124 if defined $until && $until <= time;
	}
}

# Why the run ID is to end, when a line says so.
sub cancelled {
	my ($id) = @_;

	if (IO::Select->new($answers)->can_read(0)) {
		read_lines() or exit 0;
	}
	my ($asked) = grep { $_->{cancel} && $_->{cancel}{id} eq $id } @lines;

	@lines = grep { !$_->{cancel} } @lines;
	return $asked && ($asked->{cancel}{why} // 'cancel');
}

# The first shell is what $$ names: its end is told once, and at once, whoever is quicker.
sub root_ends {
	return if $root->{told};
	while (is_ending($root->{pid})) {
		IO::Select->new($root->{end} // ())->can_read(0.001);
		last if has_ended($root);
	}
	return has_ended($root);
}

# Is PID ending, or about to take a signal that may end it? A signal that is blocked is not
# taken, and a stopped process takes SIGKILL alone.
sub is_ending {
	my ($pid) = @_;
	my $status = slurp("/proc/$pid/status");
	my %set = $status =~ /^(\w+(?:Pnd|Blk)):\s+(\w+)/mg;
	my ($flags) = slurp("/proc/$pid/stat") =~ /\) \S(?: -?\d+){5} (\d+)/;

	no warnings 'portable'; # sets have 64 bits
	my ($own, $shared, $blocked) = map { hex($set{$_} // 0) } qw(SigPnd ShdPnd SigBlk);
	$blocked = ~(1 << SIGKILL - 1) if $status =~ /^State:\s+T/m;
	return ($own | $shared) & ~$blocked || ($flags // $EXITING) & $EXITING;
}

sub root_status {
	waitpid $root->{pid}, 0;
	$root->{told} = 1;
	return status_of($?);
}

# The state that waits for the head tells.
sub died_status {
	my $wake = fileno $waiter->{wake}[0];
	my $ended = await($waiter, sub { $_[0] eq 'ended' && $_[1] eq $wake });
	return $ended && $ended->[2] =~ /\A\d{1,3}\z/ ? $ended->[2] & 255 : 137;
}

sub status_of { return $_[0] & 127 ? 128 + ($_[0] & 127) : $_[0] >> 8 }

sub how_ended {
	my ($word, $status, $inputs) = @_;

	return "ended after $inputs->{timeoutMs} ms, which is its timeoutMs" if $word eq 'late';
	return 'ended by ' . name_of_signal($status - 128) if $word eq 'died' && $status > 128 && $status < 193;
	return;
}

# What has become of the variables, as the answer has it.
sub told_of {
	my ($book, $state, $why) = @_;

	return {name => $book->{name}, cell => $book->{cell}, state => $state, defined $why && $why ne '' ? (why => $why) : ()};
}

sub fresh_why {
	my ($book) = @_;
	my $why = $lost // $book->{lost};

	undef $lost;
	return $why;
}

# A shell at its exit becomes a state, from which a new head goes on. How it ended: a shell that
# is killed by a signal comes to its trap on EXIT as well.
sub leave {
	my ($cell, $status) = @_;

	end_rest();
	my $kept = keep_state($cell);
	order('exit');
	my $ended = died_status();
	return 'exit', $status if $kept && $ended == $status && wake();
	forget(pop @states) if $kept;
	return 'died', $ended;
}

sub plural { return $_[0] == 1 ? 'a process that the code left running was ended' : "$_[0] processes that the code left running were ended" }

sub answer_kept {
	my ($run, $word, $status) = @_;
	my $book = $run->{notebook};
	my $left = end_rest();

	drain();
	my $is_new = $book->{cell} == 1 || defined $lost;
	my @why = grep { defined } $is_new ? fresh_why($book) : (), $unsafe, $left ? plural($left) : ();
	my $answer = answer_of($status, undef);
	$answer->{notebook} = told_of($book, $is_new ? 'new' : 'kept', join '; ', @why);
	succeed($run, $answer, 1);
	undef $unsafe;
	return if $word ne 'idle';
	IO::Select->new($answers)->can_read($FORK_AFTER);
	$now = $book->{cell};
	$unsafe = 'the state before this cell could not be kept: no process could be forked'
	    if !keep_state($book->{cell});
}

# Why the cell is undone, for a person.
sub undone_because {
	my ($word, $status, $inputs) = @_;
	my $how = how_ended($word, $status, $inputs);

	return "the code was $how" if defined $how;
	return "the code ended its shell with status $status, by exec, or with a trap on EXIT" if $word eq 'died';
	return "the code was ended ($word)";
}

sub answer_undone {
	my ($run, $word, $status, $files) = @_;
	my $book = $run->{notebook};
	my @changed = changed(@$files{qw(mark placed)});

	my $is_before = restore($book->{cell});
	drain();
	my $because = undone_because($word, $status, $run->{inputs});
	my $back = defined $lost ? "$lost, so all variables are lost, and the notebook is empty"
	    : $is_before ? 'variables are as before this cell' : "variables are as after cell $now";
	my $why = "$because; $back" . files_told(@changed);
	my $told = told_of($book, defined $lost ? 'new' : 'restored', $why);

	if ($word eq 'late' || $word eq 'died') {
		my $answer = answer_of($status, how_ended($word, $status, $run->{inputs}));

		$answer->{notebook} = $told;
		succeed($run, $answer, 0);
		return;
	}
	fail($run, $because, {notebook => $told, map { $_ => told($_) } qw(stdout stderr)});
}

# The end of a run, and whether what it has set stays.
sub succeed {
	my ($run, $answer, $is_kept) = @_;

	say_line(state => {kept => $is_kept ? JSON::PP::true : JSON::PP::false, why => $answer->{notebook}{why} // 'the code has ended'});
	print $say qq({"result": {"id": ) . $json->encode($run->{id}) . qq(, "output": ) . answer_text($answer) . "}}\n";
}

sub fail {
	my ($run, $message, $details) = @_;

	say_line(state => {kept => JSON::PP::false, why => $details->{notebook}{why}});
	say_line(failed => {id => $run->{id}, code => 'EXECUTION_ERROR', message => $message, details => $details});
}

sub refuse {
	my ($run, $why) = @_;

	fail($run, $why, {notebook => told_of($run->{notebook}, 'kept', $why)});
}

sub run_cell {
	my ($run) = @_;
	my $inputs = $run->{inputs};
	my $files = eval { prepare($inputs) };

	return refuse($run, "the cell was not run: " . $@ =~ s/\n//r) if !$files;
	my ($out, $err) = (new_pipe(), new_pipe());
	hear($out->[0], $err->[0]);
	$states[-1]{places} //= places() if $states[-1]{cell} == $now;
	my @fds = map { fileno $_ } $files->{stdin}, $out->[1], $err->[1];
	order('run', ++$serial, @fds, $files->{args} ? fileno $files->{args} : '-');
	my $until = defined $inputs->{timeoutMs} ? time + $inputs->{timeoutMs} / 1000 : undef;
	my ($word, $status) = follow($run->{id}, $until);

	($word, $status) = leave($run->{notebook}{cell}, $status) if $word eq 'exit';
	return answer_kept($run, $word, $status) if $word eq 'idle' || $word eq 'exit';
	answer_undone($run, $word, $status, $files);
}

sub undo {
	my ($run) = @_;
	my $book = $run->{notebook};

	return refuse($run, 'there is nothing to undo: ' . ($book->{cell} > 1 ? 'only the last cell can be undone, once' : 'the notebook is new'))
	    if @states < 2 && $states[-1]{cell} == $now;
	my $undone = $now;
	end_head();
	forget(pop @states) if $states[-1]{cell} == $now;
	restore($book->{cell});
	my $why = "variables are as before cell $undone; files are not put back";
	$why = $lost if defined $lost;
	my $told = told_of($book, defined $lost ? 'new' : 'restored', $why);

	succeed($run, {stdout => '', stderr => '', exitCode => 0, notebook => $told}, 1);
}

sub run {
	my ($run) = @_;
	my $inputs = $run->{inputs};

	$root->{told} = 1 if $root && has_ended($root);
	if (!$root || has_ended($head)) {
		$lost = 'the shell ended between two cells' if $root && !@states;
		$root ? restore($run->{notebook}{cell}) : begin();
	}
	return refuse($run, 'give either code or undo') if !defined $inputs->{code} == !$inputs->{undo};
	return $inputs->{undo} ? undo($run) : run_cell($run);
}

sub serve {
	$| = 1;
	pipe $reports, $to_reports or die "pipe: $!\n";
	$reports->blocking(0);
	$answer_to = sub {
		my ($id) = @_;
		return next_line(sub { ($_[0]{id} // '') eq $id }) // {};
	};
	begin();
	while (my $line = next_line(sub { $_[0]{run} || $_[0]{cancel} })) {
		run($line->{run}) if $line->{run};
	}
	end_all();
}

1;
