#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# TUTORIAL.md as used by a newcomer: each command as printed, in order in one shell, by a
# user without privileges in an empty folder; each block with a file name becomes the file,
# and each block of output is the real output.
use lib 'tests/lib';
use Paddock;
use Cli;
use IO::Socket::INET;

needs('python3', 'curl');

my $root = Paddock->new(idle => 1)->{root};
my $tree = "$root/paddock";
my $n = 0;
my @daemons;

mkdir $_ or die "$_: $!\n" for $tree, "$tree/build", "$root/home", "$root/said";
system('cp', '-R', map({ "$BUILD/$_" } qw(paddock paddockd paddock-worker modules)), "$tree/build") == 0 or die;
system('cp', '-R', "$TOP/etc", $tree) == 0 or die;
if (as_root()) {
	system('chown', '-R', "$NOBODY:$NOBODY", $tree, "$root/home", "$root/said") == 0 or die;
}
my $port = do {
	my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die "socket: $!\n";
	$s->sockport;
};
my %env = (HOME => "$root/home", PATH => $ENV{PATH}, TMPDIR => "$root/home", LC_ALL => 'C.UTF-8');
my $text = read_file("$TOP/TUTORIAL.md") =~ s/\b8080\b/$port/gr;

# ---- one shell for all of it ----

pipe my $commands, my $shell or die $!;
my $pid = fork // die "fork: $!\n";
if (!$pid) {
	close $shell;
	open STDIN, '<&', $commands or die $!;
	chdir $tree or die $!;
	if (as_root()) {
		$( = $) = "$NOBODY $NOBODY";
		POSIX::setgid($NOBODY);
		POSIX::setuid($NOBODY);
	}
	%ENV = %env;
	exec '/bin/sh' or POSIX::_exit(127);
}
close $commands;
$shell->autoflush(1);

# The output of COMMAND, in order: {status, out}; undef: the command did not end.
sub typed {
	my ($command) = @_;
	my $at = "$root/said/" . $n++;

	print {$shell} "{ $command\n} >$at.out 2>&1 </dev/null; echo \$? >$at.new; mv $at.new $at.status\n";
	until_true("the end of $command", sub { -e "$at.status" }) or return undef;
	return {status => 0 + read_file("$at.status"), out => read_file("$at.out")};
}

# The same on a terminal, where each question in DIALOGUE gets the answer.
sub talked {
	my ($command, $dialogue) = @_;
	my $here = typed('pwd; echo "$PATH"');
	my ($cwd, $path) = split /\n/, $here->{out};
	my $cli = bless {root => "$root/said", here => $cwd, n => 1000 + $n++}, 'Cli';
	my @words = split ' ', $command;
	my $at = 0;
	my $p = $cli->start([@words[1 .. $#words]], all_tty => 1, columns => 100, cwd => $cwd, as_root() ? (user => $NOBODY) : (),
	    env => {%env, PATH => $path, TERM => 'xterm'});

	for my $line (split /\n/, $dialogue) {
		my ($prompt, $answer) = $line =~ /^(\w+(?: asks for "\w+", [^:]*|: [^:]*)): (.*)$/ or next;

		until_true("the prompt $prompt", sub {
			return substr($p->shown, $at) =~ /\Q$prompt\E: \z/;
		}) or last;
		$at = length $p->shown;
		$p->type("$answer\n");
	}
	my $r = $p->finish;
	return {status => $r->{status}, out => $r->{err} =~ s/\r+\n/\n/gr =~ s/\r[^\n]*\e\[K//gr};
}

# ---- through it, from its top ----

my ($named, $last) = ('', '');
my $tried = 0;

# SHOWN is the output of the last command; an ellipsis matches any text in a line.
sub same_as_shown {
	my ($shown) = @_;
	my $re = join '.*', map { quotemeta } split /\xE2\x80\xA6/, $shown, -1;

	like($last->{out}, qr/\A$re\z/, 'the tutorial shows the output of the last command');
}

while ($text =~ /\G(?:```(\w*)\n(.*?)^```$|    ([^\n]+)|([^\n]*))\n/gms) {
	my ($kind, $block, $command, $words) = ($1, $2, $3, $4);

	if (defined $words) {
		next if $words eq '';
		$named = '';
		$named = $1 if $words =~ /`([\w.\/-]+)`[^`]*:$/;
		next;
	}
	if (defined $block && $named ne '') {
		my $cwd = (split /\n/, typed('pwd')->{out})[0];

		write_file("$cwd/$named", $block);
		chown $NOBODY, $NOBODY, "$cwd/$named" if as_root();
		$named = '';
		next;
	}
	if (defined $block) {
		same_as_shown($block) if !$last->{dialogue};
		next;
	}
	my ($dialogue) = substr($text, pos $text) =~ /\A\n?```\n((?:(?!```).)*?asks.*?)^```$/ms;

	$tried++;
	$named = '';
	$last = defined $dialogue ? talked($command, $dialogue) : typed($command);
	$last //= {status => -1, out => ''};
	ok($last->{status} == ($command =~ /# ends with (\d+)/ ? $1 : 0), $command)
	    or diag("status $last->{status}\n$last->{out}");
	push @daemons, typed('echo $!')->{out} + 0 if $command =~ /&$/; # the page itself waits for it
	like($last->{out}, qr/^daemon/, 'paddock status shows the daemon') if $command eq 'paddock status' && @daemons;
	last if !$last->{status} && $last->{status} ne '0';
}
cmp_ok($tried, '>', 30, "$tried commands");
kill TERM => @daemons;
close $shell;
waitpid $pid, 0;
until_true('the daemons\' end', sub { !grep { kill 0 => $_ } @daemons });
ok(strays_gone(), 'nothing is left behind');
done_testing();
