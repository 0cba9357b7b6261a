# SPDX-License-Identifier: Apache-2.0
# Nodes.pm - servers like servers on several machines: each has a state folder of its own,
# and all use one schema of the database. A test can cut the link between a server and the
# database.
package Nodes;
use strict;
use warnings;
use Daemon;
use Exporter 'import';
use Paddock;
use Postgres;
our @EXPORT = qw(node cut_off link_up end_backends);

my $n;

# Start a further node of the cluster SCHEMA. lease_ms; server: lines of [server].
sub node {
	my ( $schema, %o ) = @_;
	my $root = Paddock::fresh_root();
	my $name = 'node' . ++$n;
	my $url  = Postgres::postgres_url( $schema, lease_ms => delete $o{lease_ms} // 2000, name => "$schema-$name" );
	my ($host) = $url =~ /host=([^&]+)/;
	my $server = delete $o{server} // "node_name = $name\n";
	my $limits = delete $o{config} // {};

	symlink "$host/.s.PGSQL.5432", "$root/.s.PGSQL.5432" or die "symlink: $!\n";
	$url =~ s/host=[^&]+/host=$root/;
	return Daemon->new(
		root   => $root,
		socket_of_pg => "$host/.s.PGSQL.5432",
		backend => "$schema-$name",
		name   => $name,
		config => "[server]\n$server\n[store]\nurl = $url\n[limits]\n"
		    . join( '', map { "$_ = $limits->{$_}\n" } sort keys %$limits ),
		%o
	);
}

# As an operator does by pg_terminate_backend(): N's connections, or all of SCHEMA's.
sub end_backends {
	my ($name) = @_;

	Postgres::postgres_sql( 'SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity'
		    . " WHERE pid <> pg_backend_pid() AND application_name LIKE '$name%'" );
}

sub cut_off {
	my ($node) = @_;

	unlink "$node->{root}/.s.PGSQL.5432" or die "unlink: $!\n";
	end_backends( $node->{backend} );
}

sub link_up {
	my ($node) = @_;

	symlink $node->{socket_of_pg}, "$node->{root}/.s.PGSQL.5432" or die "symlink: $!\n";
}

1;
