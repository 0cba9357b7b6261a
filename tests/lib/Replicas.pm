# SPDX-License-Identifier: Apache-2.0
# Replicas.pm - a PostgreSQL primary and a synchronous standby (synchronous_standby_names),
# so the standby has every acknowledged transaction: two servers in a temporary folder, on
# abstract sockets, since a line of a configuration is short, run as an ordinary user.
# tests/tools/with-postgres is not needed.
#
#   my $pair = Replicas->new;   # from now on Postgres.pm and Cluster.pm use the pair
#   $pair->kill_primary;
#   $pair->promote;
#   $pair->primary_again;       # restarted with the old data, still as a primary
package Replicas;
use strict;
use warnings;
use File::Temp;
use POSIX ();
use Paddock;
use Postgres;

my ($bin) = grep { -x "$_/pg_basebackup" } reverse( sort glob('/usr/lib/postgresql/*/bin') ), '/usr/local/bin', '/usr/bin';
my @settings = ( 'listen_addresses=', 'fsync=off', 'full_page_writes=off', 'max_connections=60', 'shared_buffers=16MB',
	'unix_socket_permissions=0777', 'autovacuum_naptime=10min', 'wal_receiver_status_interval=1s' );

sub new {
	my ($class) = @_;
	my $self = bless { dir => File::Temp->newdir( 'paddock-pg.XXXXXX', TMPDIR => 1, CLEANUP => 1 ), owner => $$, pid => {} }, $class;

	chmod 0711, "$self->{dir}";
	mkdir "$self->{dir}/$_" for qw(one two);
	if ( $> == 0 ) { # who it refuses to run as
		chown 65534, 65534, "$self->{dir}", map { "$self->{dir}/$_" } qw(one two) or die "chown: $!\n";
	}
	$self->done( "$bin/initdb", '-D', "$self->{dir}/one/data", qw(-A trust -U paddock --no-sync --locale=C -E UTF8 --no-instructions) );
	$self->start('one');
	$self->done( "$bin/pg_basebackup", '-h', host('one'), qw(-U paddock -R -X stream -c fast --no-sync), '-D', "$self->{dir}/two/data" );
	$self->start('two');
	$self->sql( one => $_ ) for q(ALTER SYSTEM SET synchronous_standby_names = '*'), 'SELECT pg_reload_conf()';
	until_true( 'the standby', sub { ( ( $self->sql( one => 'SELECT sync_state FROM pg_stat_replication' ) )[0] // '' ) eq 'sync' } );
	@ENV{qw(PADDOCK_TEST_STORE PADDOCK_TEST_POSTGRES)} = ( 'postgres', $self->url );
	return $self;
}

# Whichever takes writes, the first before the other.
sub url {
	my ($self) = @_;

	return 'postgresql://paddock@/postgres?host=' . join( ',', map { host($_) =~ s/\@/%40/r } qw(one two) ) . '&target_session_attrs=read-write';
}

sub host { return { one => "\@p${$}a", two => "\@p${$}b" }->{ $_[0] } }
sub sql { my ( $self, $which, $sql ) = @_; return postgres_sql( $sql, 'postgresql://paddock@/postgres?host=' . host($which) ) }

sub log_of { my ($self) = @_; return join '', map { read_file($_) // '' } glob "$self->{dir}/log" }

# Run COMMAND as the user of the servers, with the output in the log; COMMAND dies with the
# test.
sub quiet {
	my ( $self, @command ) = @_;
	my $pid = fork // die "fork: $!\n";

	return $pid if $pid;
	unshift @command, 'setpriv', '--pdeathsig', 'QUIT', $> == 0 ? qw(--reuid=65534 --regid=65534 --clear-groups) : ();
	$SIG{$_} = 'DEFAULT' for qw(TERM INT);
	open STDIN,  '<',  '/dev/null';
	open STDOUT, '>>', "$self->{dir}/log";
	open STDERR, '>&', \*STDOUT;
	chdir '/';
	exec { $command[0] } @command or POSIX::_exit(127);
}

sub done {
	my ( $self, @command ) = @_;

	waitpid $self->quiet(@command), 0;
	die "$command[0]: ", $self->log_of if $?;
}

sub start {
	my ( $self, $which ) = @_;

	$self->{pid}{$which} = $self->quiet( "$bin/postgres", '-D', "$self->{dir}/$which/data", '-k', host($which), map { ( '-c', $_ ) } @settings );
	$Paddock::beside{ $self->{pid}{$which} } = 1;
	until_true( "server $which", sub { system( "$bin/pg_isready", '-q', '-h', host($which) ) == 0 } )
	    or die $self->log_of;
}

# Kill all processes of a server at once, as a loss of power does.
sub kill9 {
	my ( $self, $which ) = @_;
	my $pid = delete $self->{pid}{$which};

	kill STOP => $pid;
	kill KILL => Paddock::children_of($pid), $pid;
	waitpid $pid, 0;
	delete $Paddock::beside{$pid};
}

sub kill_primary { $_[0]->kill9('one') }

sub promote {
	my ($self) = @_;

	$self->done( "$bin/pg_ctl", qw(promote -s -w), '-D', "$self->{dir}/two/data" );
}

sub primary_again {
	my ($self) = @_;

	unlink "$self->{dir}/one/data/postmaster.pid";
	$self->start('one');
}

# End the connections with the application name NAME at the present primary.
sub end_connections {
	my ( $self, $name ) = @_;

	$self->sql( two => "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '$name'" );
}

sub DESTROY {
	my ($self) = @_;
	local ( $?, $@, $! );

	return if $self->{owner} != $$;
	$self->kill9($_) for keys %{ $self->{pid} };
}

1;
