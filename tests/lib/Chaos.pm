# SPDX-License-Identifier: Apache-2.0
# Chaos.pm - Storm plus disturbances: clients on the socket and on the stdio of a second
# server with the same state, HUPs after templates and a token were removed or put back,
# killed workers and zygotes, and a full disk. A book has the end of every run as clients
# received it, which must agree with the store, and counts which endings met which states.
package Chaos;

use strict;
use warnings;

use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use Paddock;
use Socket;
use Storm;
use Test::More ();

our @ISA = ('Storm');

my $FLUX = 'bob'; # whose token goes and comes
my $LINES = 4;    # sessions of lines at once
my $STDIO = 1;    # of these: servers of their own
my %terminal = map { $_ => 1 } qw(succeeded failed partial_success canceled);
my %as_run = (completed => qr/^(?:succeeded|partial_success)$/, failed => qr/^failed$/, cancelled => qr/^canceled$/,
	      map { $_ => qr/^$_$/ } keys %terminal);

# disk: a folder on a file system of its own, which the test may fill, or undef.
sub new {
	my ($class, $server, $seed, %o) = @_;
	my $self = $class->SUPER::new($server, $seed);

	$self->{disk} = $o{disk};
	$self->{config} = read_file("$server->{root}/paddock.conf");
	$self->{ended} = {}; # run => how it ended, as clients were told
	return $self;
}

sub one_of { return $_[int rand @_] }

# ---- who comes, and by which way ----

sub begin {
	my ($self) = @_;
	my @lines = $self->lines;

	return $self->begin_http if @lines >= $LINES || rand() < 0.6;
	return $self->begin_stdio if rand() < 0.4 && $STDIO > grep { $_->{session}{server} } @lines;
	my $c = Client->new($self->{server}) // return $self->begin_http;

	return $self->line({owner => 'local'}, $c->{from}, $c->{to});
}

# Start a second server on stdio with the same state; the second server must leave the first
# server's socket and runs alone.
sub begin_stdio {
	my ($self) = @_;
	my $p = Paddock->new(root => $self->{server}{root}, state => $self->{server}{state}, shared => 1,
			     user => $self->{server}{user});

	push @{$self->{servers}}, $p;
	return $self->line({owner => 'local', server => $p}, $p->{from}, $p->{to});
}

sub line {
	my ($self, $s, $from, $to) = @_;

	fcntl $_, F_SETFL, fcntl($_, F_GETFL, 0) | O_NONBLOCK for $from, $to;
	$s->{line} = {session => $s, from => $from, to => $to, in => '', out => '', due => [], broken => 0};
	return $s;
}

# The server on stdio goes on until all requests are answered.
sub close_lines {
	my ($self, $l) = @_;
	my $p = $l->{session}{server};

	$self->SUPER::close_lines($l);
	return unless $p;
	@$p{qw(from to)} = ();
	my $status = $p->wait_exit;
	$self->fault('the server on stdio ended with ' . ($status // 'nothing')) if !defined $status || $status;
}

# Is a lost answer to Q excused? A removed token ends the sessions and requests of the
# requestor.
sub excuses {
	my ($self, $q) = @_;
	my $s = $q->{session} // $q;

	return ($s->{owner} // $q->{owner} // '') eq $FLUX && $self->{flux};
}

# ---- what was told ----

sub note_end {
	my ($self, $id, $status) = @_;

	return unless $as_run{$status // ''};
	my $was = $self->{ended}{$id};

	$self->fault("$id was told to be $was, and $status")
	    if defined $was && $status ne $was && $status !~ $as_run{$was} && $was !~ $as_run{$status};
	$self->{ended}{$id} = $status;
}

# The status of a run in V, a view of a run or a task. A task of 2026-07-28 is also
# completed when the run has failed: then the task's result has the status, if present.
sub status_of {
	my ($v) = @_;

	return $v->{status} if ($v->{status} // '') ne 'completed' || !exists $v->{ttlMs};
	return ref $v->{result} eq 'HASH' ? $v->{result}{isError} ? 'failed' : 'completed' : undef;
}

# Note in the book the states of runs and tasks in an answer.
sub tells {
	my ($self, $owner, $m) = @_;
	my @look = ($m->{result});

	while (my $v = shift @look) {
		next if ref $v eq 'HASH' && exists $v->{x}; # what was given, large
		if (ref $v eq 'ARRAY') {
			push @look, grep { ref } @$v;
		} elsif (ref $v eq 'HASH') {
			my $id = $v->{runId} // $v->{taskId};

			$self->note_end($id, status_of($v)) if defined $id && !ref $id && $id =~ /^run_/;
			push @look, grep { ref eq 'HASH' || ref eq 'ARRAY' } map { $v->{$_} } sort keys %$v;
		}
	}
}

# ---- what the world does ----

sub signal_hup { $_[0]{server}->signal('HUP') }

sub write_config {
	my ($self, $without) = @_;
	my $text = $self->{config};

	$text =~ s/^\[requestor "\Q$without\E"\]\ntoken_sha256 = \w+\n//mg if defined $without;
	write_file("$self->{server}{root}/paddock.new", $text); # a HUP may be on its way
	rename "$self->{server}{root}/paddock.new", "$self->{server}{root}/paddock.conf";
}

sub templates_dir { return "$_[0]{server}{root}/templates" }

# Take one template away, or put a template back.
sub move_template {
	my ($self) = @_;
	my $away = "$self->{server}{root}/away";
	my ($back) = glob "$away/*";

	mkdir $away;
	if ($back) {
		rename $back, $self->templates_dir . '/' . $back =~ s{.*/}{}r;
	} else {
		my $one = one_of(sort glob $self->templates_dir . '/*');
		rename $one, "$away/" . $one =~ s{.*/}{}r;
	}
	$self->signal_hup;
}

sub move_token {
	my ($self) = @_;

	$self->{flux} = 1;
	$self->write_config(($self->{without} = !$self->{without}) ? $FLUX : undef);
	$self->signal_hup;
}

# The descendants of the server with the name of a worker, zygote or program, except the
# process with root's rights.
sub victims {
	my ($self) = @_;
	my @all = grep { (Paddock::stat_of($_)->{comm} // '') =~ /^(?:paddock-worker|main)/ } children_of($self->{server}{pid});

	return @all;
}

sub kill_one {
	my ($self) = @_;
	my @all = $self->victims;

	return unless @all;
	kill one_of(qw(KILL KILL SEGV ABRT TERM)), one_of(@all);
	$self->{counts}{'a process killed'}++;
}

sub fill_disk {
	my ($self) = @_;

	return if !$self->{disk} || $self->{full};
	open my $f, '>', "$self->{disk}/filler" or return;
	my $block = "\0" x (1 << 20);
	1 while syswrite $f, $block;
	syswrite $f, "\0" x 4096 while !$!{ENOSPC};
	close $f;
	$self->{full} = $self->{step} + 10 + int rand 40; # until then
	$self->{counts}{'a full disk'}++;
}

sub empty_disk {
	my ($self) = @_;

	unlink "$self->{disk}/filler";
	$self->{full} = 0;
}

my %names = map { $_ => 1 } qw(echo nap asks fails makes holds crowd loops stuck prog partly weighs_in weighs_out);

# Add large or deeply nested inputs, which the server parses and validates on a thread.
sub more_inputs {
	my ($args) = @_;

	$args->{x} = 'x' x (60_000 + int rand 200_000) if rand() < 0.08;
	if (rand() < 0.2) {
		my $deep = {};
		$deep = {a => $deep} for 1 .. 6 + int rand 8;
		$args->{a} = $deep;
	}
	return $args;
}

sub call_params {
	my ($self, $s) = @_;
	my $params = $self->SUPER::call_params($s);

	return $params if rand() < 0.4;
	my $name = one_of(sort keys %names);

	if (rand() < 0.3) {
		$params->{name} = 'run_task_template';
		$params->{arguments} = {templateId => $name, inputs => more_inputs({n => int rand 9, ms => int rand 60}),
			options => {mode => one_of(qw(sync async auto)), rand() < 0.3 ? (timeoutMs => 1 + int rand 300) : (),
				    rand() < 0.2 ? (idempotencyKey => 'k' . int rand 5) : ()}};
	} else {
		$params->{name} = $name;
		$params->{arguments} = more_inputs({n => int rand 9, ms => int rand 60});
	}
	return $params;
}

# Cancel the newest run of OWNER, in whatever state.
sub cancel_newest {
	my ($self, $s) = @_;
	my $ids = $self->{ids}{"run$s->{owner}"} // [];
	my $id = @$ids ? $ids->[-1 - int rand(@$ids > 4 ? 4 : @$ids)] : return;

	$self->ask($s, @{one_of(['tools/call', {name => 'cancel_task_run', arguments => {runId => $id}}],
				['tasks/cancel', {taskId => $id}])});
}

my %ops = (
	template => \&move_template,
	token => \&move_token,
	kill => \&kill_one,
	fill => \&fill_disk,
	cancel_newest => \&cancel_newest,
);
my @more = map { my ($name, $n) = /(\w+):(\d+)/; ($name) x $n } qw(template:2 token:1 kill:5 fill:2 cancel_newest:8 reply:8 task:8 call:10);

sub ops { my ($self) = @_; return $self->{ops} //= {%{$self->SUPER::ops}, %ops} }
sub weighed { my ($self) = @_; return $self->{weighed} //= [@{$self->SUPER::weighed}, @more] }

sub op {
	my ($self, @what) = @_;

	$self->empty_disk if $self->{full} && $self->{step} > $self->{full};
	return $self->SUPER::op(@what);
}

# The error -32603 is no fault: the store cannot be read for a while.
sub unknown {
	my ($self, $owner, $id, $m) = @_;

	return if ($m->{error}{code} // 0) == -32603; # the store cannot be read
	return $self->SUPER::unknown($owner, $id, $m);
}

# Undo all disturbances.
sub mend {
	my ($self) = @_;

	$self->empty_disk if $self->{full};
	$self->move_template if glob "$self->{server}{root}/away/*";
	$self->move_token if $self->{without};
}

sub calm {
	my ($self) = @_;

	$self->mend;
	$self->{server}->reload;
	$self->SUPER::calm;
	$_->wait_exit for @{$self->{servers} // []};
}

# ---- what the store has ----

# {run => {status, code}} of all runs; the newest staged row of a run wins.
sub rows {
	my ($self) = @_;
	my ($db) = glob "$self->{server}{state}/*.db";
	my @rows = qx{python3 -c 'import json, sqlite3, sys
for id, status, view in sqlite3.connect(sys.argv[1]).execute("SELECT id, status, view FROM (SELECT 0 AS seq, * FROM (SELECT id, status, view FROM runs) UNION ALL SELECT seq, id, status, view FROM staged) ORDER BY seq"):
    error = json.loads(view or "{}").get("error") or {}
    print(id, status, error.get("errorCode", "-"))' $db};
	my @names = qw(queued running succeeded failed partial_success canceled); # as store.h counts them

	return {map { /^(\S+) (\d) (\S+)$/ ? ($1 => {status => $names[$2], code => $3}) : () } @rows};
}

# Runs whose state in the store differs from the answers to clients.
sub untrue {
	my ($self, $rows) = @_;
	my @wrong;

	for my $id (sort keys %{$self->{ended}}) {
		my ($told, $row) = ($self->{ended}{$id}, ($rows->{$id} // {})->{status} // 'nowhere');

		push @wrong, "$id is $row, and was told to be $told" unless $row =~ $as_run{$told};
	}
	return @wrong;
}

# {"STATE ENDING" => count}: the endings of runs, by the state before the end, and {run =>
# number of ends}.
sub endings {
	my ($self, $log, $rows) = @_;
	my (%state, %met, %ends);

	while ($log =~ /part=run run=(\w+) event=\w+ state=(\w+)/g) {
		my ($id, $to) = ($1, $2);

		if ($terminal{$to}) {
			my $code = ($rows->{$id} // {})->{code} // 'not recorded';

			$ends{$id}++;
			$met{($state{$id} // 'queued') . ' ' . ($code eq '-' ? $to : $code)}++;
		}
		$state{$id} = $to;
	}
	return (\%met, \%ends);
}

1;
