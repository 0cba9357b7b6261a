# SPDX-License-Identifier: Apache-2.0
# Cluster.pm - several paddockd on one PostgreSQL, each with a state folder of its own,
# behind a plain proxy, which gives each connection to the next node; and a load of runs
# with a book of the rules for all runs.
#
#   my $c = Cluster->new(nodes => 3, templates => {...});
#   $c->modern->tool(...)            # through the next node
#   $c->node(0)->client->greeted     # through node 0
#   my $load = $c->load(runs => 300, template => 'nap');
#   $load->go(sub { ... });          # the code is called after each acknowledgement
#   print for $load->wrong;          # broken rules, or nothing
#
# A cluster needs tests/tools/with-postgres around the test. The lease of the nodes is
# lease_ms.
package Cluster;
use strict;
use warnings;
use Http;
use Paddock;
use Postgres;

our @ISA = ('Http'); # its clients are those of any server over HTTP

my $clusters = 0;
our $LEASE_MS = 3000;
my %limits = ( max_concurrent_runs => 8, max_queued_runs => 100_000 );

# templates, config, tokens as for Http; nodes: how many; lease_ms; poll_ms; limits: {key => value}.
sub new {
	my ( $class, %o ) = @_;
	my $n      = delete $o{nodes} // 3;
	my $self   = bless { schema => "$$-" . ++$clusters, lease_ms => $LEASE_MS, %o, nodes => [] }, $class;
	my %limit  = ( %limits, %{ delete $o{limits} // {} } );
	my $config = ( delete $o{config} // '' ) . "[limits]\n" . join '', map { "$_ = $limit{$_}\n" } sort keys %limit;

	for my $i ( 0 .. $n - 1 ) {
		my $url = postgres_url( $self->{schema}, lease_ms => $self->{lease_ms},
			poll_ms => $self->{poll_ms}, name => $self->backends($i) );
		push @{ $self->{configs} }, "$config\n[store]\nurl = $url\n";
		push @{ $self->{nodes} }, Http->new( %o, config => $self->{configs}[$i], unready => 1 );
	}
	$_->ready for $self->nodes;
	$self->{log} = $self->node(0)->{log};
	$self->proxy;
	return $self;
}

sub nodes { return @{ $_[0]{nodes} } }
sub node { return $_[0]{nodes}[ $_[1] ] }
sub backends { return "c$_[0]{schema}-$_[1]" } # what the connections of node N are called
sub url { return postgres_url( $_[0]{schema} ) }
sub sql { return postgres_sql( $_[1], $_[0]->url ) }

# Kill node N and all processes of node N.
sub kill_node {
	my ( $self, $n ) = @_;

	$self->node($n)->kill9;
	strays_gone();
}

# Start node N again with the same folder and port, as a service manager would.
sub again {
	my ( $self, $n ) = @_;
	my $old = $self->node($n);

	$self->{nodes}[$n] = $old->again( args => [], listen => '127.0.0.1:' . $old->port,
		config => $self->{configs}[$n], tokens => $old->{tokens} );
	return $self->{nodes}[$n];
}

# The database's processes for node N (undef: for all) end, as by an operator.
sub end_backends {
	my ( $self, $n ) = @_;
	my $like = defined $n ? $self->backends($n) : "c$self->{schema}-%";

	postgres_sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE '$like'");
}

# The database dies, and is there again SECONDS later.
sub restart_database {
	my ( $self, $seconds ) = @_;

	kill USR1 => $ENV{PADDOCK_TEST_KEEPER};
	until_true( 'the end of the database', sub { !asks_database() } );
	select undef, undef, undef, $seconds // 0;
	kill USR2 => $ENV{PADDOCK_TEST_KEEPER};
	until_true( 'the database', sub { asks_database() } );
}

sub asks_database {
	open my $saved, '>&', \*STDERR or die "dup: $!\n";
	open STDERR, '>', '/dev/null';
	my ($is_there) = eval { postgres_sql('SELECT 1') };

	open STDERR, '>&', $saved;
	return $is_there;
}

# End all nodes in order; Paddock's stop() checks each node.
sub stop {
	my ( $self, $name ) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$self->end_proxy;
	$_->stop( $name // 'a node ends and leaves nothing behind' ) for $self->nodes;
}

# ---- the proxy ----

sub proxy {
	my ($self) = @_;

	$self->{proxy_pid} = Cluster::Proxy::begin( $self->{port} = \my $port, map { $_->port } $self->nodes );
	$self->{port} = $port;
	$Paddock::beside{ $self->{proxy_pid} } = 1;
}

sub end_proxy {
	my ($self) = @_;
	my $pid = delete $self->{proxy_pid} // return;

	delete $Paddock::beside{$pid};
	kill KILL => $pid;
	waitpid $pid, 0;
}

sub DESTROY { my ($self) = @_; local ( $?, $@, $! ); $self->end_proxy if ( $self->{owner} // $$ ) == $$; }

sub load { return Cluster::Load->new(@_) }

package Cluster::Proxy;
use strict;
use warnings;
use Errno qw(EAGAIN EINPROGRESS EINTR);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);
use POSIX ();
use Socket;

my $MOST = 1 << 18; # bytes that wait for one who does not read

# Start the proxy in a process of its own and return the pid; the proxy's port goes to
# $$PORT.
sub begin {
	my ( $port, @targets ) = @_;

	socket my $listener, AF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
	bind $listener, sockaddr_in( 0, INADDR_LOOPBACK ) or die "bind: $!\n";
	listen $listener, 1024 or die "listen: $!\n";
	($$port) = sockaddr_in( getsockname $listener );
	my $pid = fork // die "fork: $!\n";
	return $pid if $pid;
	$SIG{$_} = 'DEFAULT' for qw(TERM INT);
	$SIG{PIPE} = 'IGNORE';
	syscall 157, 1, 9, 0, 0, 0 if ( POSIX::uname() )[4] eq 'x86_64'; # it dies with who began it
	eval { serve( $listener, @targets ) };
	print STDERR $@;
	POSIX::_exit(1);
}

sub non_blocking { fcntl $_[0], F_SETFL, fcntl( $_[0], F_GETFL, 0 ) | O_NONBLOCK }

# Connect to the first of TARGETS with an open port; a used target moves to the end of the
# list.
sub reach {
	my ($targets) = @_;

	for ( 1 .. @$targets ) {
		push @$targets, my $port = shift @$targets;
		socket my $fh, AF_INET, SOCK_STREAM, 0 or return;
		non_blocking($fh);
		return $fh if connect( $fh, sockaddr_in( $port, INADDR_LOOPBACK ) ) || $! == EINPROGRESS;
	}
	return;
}

sub serve {
	my ( $listener, @targets ) = @_;
	my %end; # fileno => {fh, out, other, eof}: one end of a pair

	non_blocking($listener);
	while (1) {
		my ( $r, $w ) = ( '', '' );

		vec( $r, fileno $listener, 1 ) = 1;
		for my $e ( values %end ) {
			vec( $r, fileno $e->{fh}, 1 ) = 1 if !$e->{eof} && length $e->{other}{out} < $MOST;
			vec( $w, fileno $e->{fh}, 1 ) = 1 if length $e->{out};
		}
		next if select( $r, $w, undef, undef ) <= 0;
		while ( accept my $client, $listener ) {
			my $target = reach( \@targets ) or next;

			non_blocking($client);
			my @pair = map { { fh => $_, out => '' } } $client, $target;
			$pair[$_]{other} = $pair[ 1 - $_ ] for 0, 1;
			$end{ fileno $_->{fh} } = $_ for @pair;
		}
		for my $fd ( grep { vec( $r, $_, 1 ) || vec( $w, $_, 1 ) } keys %end ) {
			my $e = $end{$fd} // next;

			next if move( $e, vec( $r, $fd, 1 ), vec( $w, $fd, 1 ) );
			delete @end{ map { fileno $_->{fh} } $e, $e->{other} };
			close $_->{fh} for $e, $e->{other};
			delete $_->{other} for $e->{other}, $e;
		}
	}
}

# False: the pair is over.
sub move {
	my ( $e, $reads, $writes ) = @_;

	if ( $reads && !$e->{eof} ) {
		my $n = sysread $e->{fh}, $e->{other}{out}, 1 << 16, length $e->{other}{out};

		return 0 if !defined $n && $! != EAGAIN && $! != EINTR;
		$e->{eof} = 1 if defined $n && $n == 0;
	}
	for my $to ( $writes ? $e : (), $e->{other} ) {
		next unless length $to->{out};
		my $n = syswrite $to->{fh}, $to->{out};

		return 0 if !defined $n && $! != EAGAIN && $! != EINTR && $! != EINPROGRESS && !$!{ENOTCONN};
		substr $to->{out}, 0, $n, '' if $n;
	}
	for my $from ( $e, $e->{other} ) { # an end is passed on once all before it is
		next unless $from->{eof} && !$from->{passed} && !length $from->{other}{out};
		$from->{passed} = shutdown $from->{other}{fh}, 1;
	}
	return !( $e->{eof} && $e->{other}{eof} && !length $e->{out} && !length $e->{other}{out} );
}

# A connection whose server may never answer: a silent connection is given up without a
# fault.
package Cluster::Conn;
use strict;
use warnings;
use Time::HiRes qw(time);

our @ISA = ('Http::Conn');

sub within {
	my ( $class, $conn, $seconds ) = @_;

	$conn->{until} = time + $seconds;
	return bless $conn, $class;
}

sub wait_io {
	my ( $self, $writing ) = @_;
	my $left = $self->{until} - time;
	my $bits = '';

	return 0 if $left <= 0;
	vec( $bits, fileno $self->{fh}, 1 ) = 1;
	return ( $writing ? select( undef, $bits, undef, $left ) : select( $bits, undef, undef, $left ) ) > 0;
}

# Runs through the proxy, each with an idempotency key, so the load can repeat a request
# without an answer until the run is acknowledged; and the end of each run.
package Cluster::Load;
use strict;
use warnings;
use Paddock;
use Time::HiRes qw(time);

my $ANSWER_S = 3;

# runs: the number of runs; template, inputs: for each run, or code which returns both for a
# number; at_once: the number of requests at once; requestor: the token's name.
sub new {
	my ( $class, $cluster, %o ) = @_;

	return bless { cluster => $cluster, runs => 100, at_once => 16, template => 'nap', tag => 'k', %o,
		id => {}, wrong => [], asked => 0, again => 0 }, $class;
}

sub wrong { return @{ $_[0]{wrong} } }
sub fault { my ( $self, $what ) = @_; push @{ $self->{wrong} }, substr $what, 0, 600 if @{ $self->{wrong} } < 20 }
sub acked { return scalar keys %{ $_[0]{id} } }
sub client { my ($self) = @_; return $self->{client} //= $self->{cluster}->modern( $self->{requestor} ) }

sub ask {
	my ( $self, $name, $arguments ) = @_;
	my $client = $self->client;
	my $conn = eval { $client->post_request( 'tools/call', { name => $name, arguments => $arguments }, $client->{next_id}++ ) };

	return defined $conn ? Cluster::Conn->within( $conn, $ANSWER_S ) : undef;
}

# The answer of a tool on CONN: a value; {code} after a refusal; undef without an answer.
sub told {
	my ( $self, $conn ) = @_;
	my $r = defined $conn ? $conn->response : {};
	my $json = $r->{json};

	$conn->hang_up if $conn;
	return $r->{status} ? { code => "$r->{status} " . ( $json ? $json->{error}{message} // '' : '' ) } : undef
	    unless $json && $json->{result};
	return $json->{result}{structuredContent} unless $json->{result}{isError} && !$json->{result}{structuredContent};
	return { code => Paddock::json_to_text( $json->{result}{content}[0]{text} )->{errorCode} // '?' };
}

sub tool { my ( $self, @a ) = @_; return $self->told( $self->ask(@a) ) }

sub begin {
	my ( $self, $n ) = @_;
	my ( $template, $inputs ) =
	    ref $self->{template} ? $self->{template}->($n) : ( $self->{template}, { n => $n, %{ $self->{inputs} // {} } } );

	$self->{asked}++;
	$self->{tried}{$n} = 1;
	return $self->ask( run_task_template => { templateId => $template, inputs => $inputs,
		options => { mode => 'async', idempotencyKey => "$self->{tag}$n" } } );
}

# Send requests until all runs are acknowledged. MEANWHILE is called after each
# acknowledgement with the count.
sub go {
	my ( $self, $meanwhile ) = @_;
	my @todo = 1 .. $self->{runs};
	my @on;
	my $until = time + $PATIENCE + $self->{runs};

	while ( @todo || @on ) {
		if ( $self->{until} && time > $self->{until} && @todo ) { # no more are begun
			$self->{runs} -= grep { !$self->{tried}{$_} } @todo;
			@todo = grep { $self->{tried}{$_} } @todo;
			delete $self->{until};
		}
		if ( time > $until ) {
			$self->fault( 'not acknowledged in time: ' . ( @todo + @on ) );
			last;
		}
		push @on, [ $_, $self->begin($_) ] for splice @todo, 0, $self->{at_once} - @on;
		next unless @on;
		my ( $n, $conn ) = @{ shift @on };
		my $v = $self->told($conn);

		if ( $v && $v->{runId} ) {
			$self->{id}{$n} = $v->{runId};
			$meanwhile->( $self->acked ) if $meanwhile;
			next;
		}
		$self->{refused}{ $v ? $v->{code} // 'other' : 'unanswered' }++;
		$self->{again}++;
		push @todo, $n;
		select undef, undef, undef, 0.02;
	}
}

# All pages of the cluster's list of runs; for a large load, the rows of the database.
sub views {
	my ($self) = @_;
	my %view;

	if ( $self->{runs} > 1000 ) {
		my %name = ( 2 => 'succeeded', 3 => 'failed', 4 => 'partial_success', 5 => 'canceled' );

		for ( $self->{cluster}->sql('SELECT id, status FROM runs') ) {
			my ( $run, $status ) = split /\|/;
			$view{$run} = { runId => $run, status => $name{$status} // $status };
		}
		return ( scalar keys %view, \%view );
	}
	for ( my $offset = 0; ; $offset += 100 ) {
		my $page = $self->tool( list_task_runs => { limit => 100, offset => $offset } );

		redo unless $page && $page->{runs};
		for ( @{ $page->{runs} } ) {
			$self->fault("$_->{runId} is listed twice") if $view{ $_->{runId} };
			$view{ $_->{runId} } = $_;
		}
		return ( $page->{total}, \%view ) if @{ $page->{runs} } < 100;
	}
}

# Waits until no run goes on, by the database, which everybody asks in the end.
sub settle {
	my ($self) = @_;

	return until_true( 'all runs to end', sub {
		my $left = eval { ( $self->{cluster}->sql('SELECT count(*) FROM runs WHERE ended = 0') )[0] };
		return defined $left && $left == 0;
	} );
}

# How often a worker began with each run, as the nodes' logs tell.
sub executions {
	my ($self) = @_;
	my %n;

	for my $log ( map { glob "$_->{root}/log.*" } $self->{cluster}->nodes ) {
		open my $in, '<', $log or next;
		while (<$in>) {
			$n{$1}++ if /part=worker run=(run_\w+) pid=\d+ slot=/;
		}
	}
	return \%n;
}

sub why_failed {
	my ( $self, $run ) = @_;
	my $v = $self->tool( get_task_run => { runId => $run } );

	return 'refused' if ( $v->{error}{message} // '' ) =~ /could not be queued/; # and acknowledged
	my $code = $v->{error}{errorCode} // 'failed';

	$self->fault( "$run: " . json_of( $v->{error} ) ) if $code eq 'WORKER_CRASHED'; # which says of what
	return $code;
}

# Check the rules after the end of all runs. again: the allowed number of executions of a
# run.
sub check {
	my ( $self, %o ) = @_;

	$self->settle or return $self->fault( 'some go on: ' . join ' ', $self->{cluster}->sql(
		'SELECT r.id, r.status, r.instance, n.id IS NOT NULL, r.idem_key FROM runs r LEFT JOIN node n ON n.id = r.instance WHERE r.ended = 0 LIMIT 5') );
	my ( $total, $view ) = $self->views;
	my $began = $self->executions;
	my %keys = reverse %{ $self->{id} };

	$self->fault( keys(%keys) . " runs for $self->{runs} keys" ) if keys %keys != $self->{runs};
	$self->fault("$total runs are listed, $self->{runs} were asked for") if $total != $self->{runs} && !$o{others};
	for my $run ( sort keys %keys ) {
		my $v = $view->{$run} // do { $self->fault("$run is lost"); next };
		my $how = $v->{status} eq 'failed' ? $self->why_failed($run) : $v->{status};

		$self->{how}{$how}++;
		# STORE_UNAVAILABLE: the artifact could not be stored
		$self->fault("$run: $how") if $how !~ /^(?:succeeded|RUN_INTERRUPTED|STORE_UNAVAILABLE|canceled)$/;
		$self->fault( "$run was done $began->{$run} times: $how" ) if ( $began->{$run} // 0 ) > ( $o{again} // 1 );
		$self->fault("$run has succeeded, and nobody did it") if $how eq 'succeeded' && !$began->{$run};
	}
	my ($sum) = $self->{cluster}->sql('SELECT sum(n) FROM counts');
	$self->fault("the counts are of $sum runs, and $total are there") if $sum != $total && !$o{others};
	return $self->wrong == 0;
}

# A summary for people.
sub words {
	my ($self) = @_;

	return json_of( { ends => $self->{how} // {}, asked => $self->{asked}, refused => $self->{refused} // {} } );
}

1;
