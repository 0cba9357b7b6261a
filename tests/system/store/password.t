#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A database with a password: by password_file, PGPASSFILE and a service file. No output
# contains the password.
use lib 'tests/lib';
use Paddock;

BEGIN { # in one of its own, whose rules it changes
	my $is_inside = ( $ARGV[0] // '' ) eq 'inside';

	needs('postgres');
	die "with-postgres is not beside\n" if $is_inside && !$ENV{PADDOCK_TEST_POSTGRES};
	die "this is inside of itself\n" if !$is_inside && $ENV{PADDOCK_TEST_PASSWORD}++;
	exec 'tests/tools/with-postgres', $^X, $0, 'inside' unless $is_inside;
}
use Daemon;
use Postgres;

my $PASSWORD = 'n0b0dys$ecret';
my $url      = postgres_url('password');
my ($hba)    = postgres_sql('SHOW hba_file');

postgres_sql("SET password_encryption = 'scram-sha-256'; CREATE ROLE ada LOGIN PASSWORD '$PASSWORD'; ALTER SCHEMA @{[$url =~ /application_name=(\w+)/]} OWNER TO ada");
postgres_sql("COPY (SELECT 'local all ada scram-sha-256' UNION ALL SELECT 'local all all trust') TO '$hba'; SELECT pg_reload_conf()");
$url =~ s{//paddock@}{//ada@};
# PostgreSQL reads the new rules a moment later
until_true( 'the rules', sub { open my $out, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', Postgres::psql($url), '-w', '-c', 'SELECT 1' or die; join( '', <$out> ) =~ /no password/ } );

# The output of a start, of the configuration and of a check; $ended: the exit status of the
# start.
my $ended;
sub start_of {
	my ( $lines, %env ) = @_;
	my $root = Paddock::fresh_root();

	write_file( "$root/c.conf", "[store]\nurl = $url\n$lines" );
	local @ENV{ keys %env } = values %env;
	mkdir "$root/templates";
	my $paddockd = "$BUILD/paddockd --config $root/c.conf";
	my $where    = "--state-dir $root/state --log-level debug --templates $root/templates";
	my $said     = qx{timeout $PATIENCE $paddockd --print-config 2>&1; timeout $PATIENCE $paddockd --check $where --socket $root/s 2>&1};

	return $said if $said =~ /answers in/; # it would go on
	$said .= qx{timeout $PATIENCE $paddockd $where --socket $root/s 2>&1};
	$ended = $? >> 8;
	return $said;
}

my $dir  = Paddock::fresh_root();
my $file = "$dir/password";
my @said;

sub file_of { my ( $text, $mode ) = @_; unlink $file; write_file( $file, $text ); chmod $mode, $file or die "$file: $!\n" }

file_of( "$PASSWORD\n", 0600 );
push @said, start_of("password_file = $file\n");
like( $said[-1], qr/PostgreSQL [0-9.]+, .*answers in/, 'password_file lets it in' );
{
	my $server = Daemon->new( config => "[store]\nurl = $url\npassword_file = $file\n" );

	$server->ready;
	push @said, $server->log_text;
	$server->stop('a server lets itself in by it, who is root no more');
}
file_of( "$PASSWORD\n", 0644 );
push @said, start_of("password_file = $file\n");
is( $ended, 78, 'one that others may read ends the start' );
like( $said[-1], qr/password_file \Q$file\E: it is no file, or others may read it; chmod 600/, 'which is told' );
file_of( "$PASSWORD\n", 0640 );
push @said, start_of("password_file = $file\n");
is( $ended, 78, 'so does one that its group may read' );
file_of( "\n$PASSWORD\n", 0600 );
push @said, start_of("password_file = $file\n");
is( $ended, 78, 'so does one that is empty' );
like( $said[-1], qr/password_file \Q$file\E: its first line is empty/, 'which is told as well' );
push @said, start_of("password_file = $file.none\n");
is( $ended, 78, 'so does one that is not there' );
like( $said[-1], qr/password_file \Q$file\E\.none: No such file or directory/, 'and that' );
file_of( "$PASSWORD-not\n", 0600 );
push @said, start_of("password_file = $file\n");
is( $ended, 69, 'a wrong password is another matter' );
like( $said[-1], qr/password authentication failed for user "ada"/, 'and told as such' );
file_of( "*:*:*:ada:$PASSWORD\n", 0600 );
push @said, start_of( '', PGPASSFILE => $file );
like( $said[-1], qr/PostgreSQL [0-9.]+, .*answers in/, 'PGPASSFILE lets it in' );
file_of( "[db]\npassword=$PASSWORD\n", 0600 );
$url .= '&service=db';
push @said, start_of( '', PGSERVICEFILE => $file );
like( $said[-1], qr/PostgreSQL [0-9.]+, .*answers in/, 'and so does a service file' );
unlike( join( '', @said ), qr/\Q$PASSWORD\E/, 'it is in nothing that was said' );

done_testing();
