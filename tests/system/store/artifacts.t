#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Artifacts of two servers on one database: what the one is given the other gives, as
# rows of the database and as files of a folder that both share.
use lib 'tests/lib';
use Paddock;
use Http;
use Digest::SHA qw(sha256_hex);

BEGIN {
	needs('postgres');
	exec 'tests/tools/with-postgres', $^X, $0 unless $ENV{PADDOCK_TEST_POSTGRES};
}
use Postgres;

my %ADA     = ( Authorization => 'Bearer a' );
my %FILE    = ( inputsSchema => { type => 'object', properties => { f => { type => 'string', format => 'paddock-file' } } } );
my $PROGRAM = "#!/bin/bash\ncat >/dev/null; set -- in/*; read -r sum _ < <(sha256sum \"\$1\"); printf '{\"sum\": \"%s\"}' \$sum\n";
my $large   = join '', map { pack 'N', $_ * 2654435761 & 0xffffffff } 1 .. 1 << 20; # 4 MiB
my $bytes   = $large . $large . $large . 'end';

for my $kind (qw(database folder)) {
	my $root   = Paddock::fresh_root();
	chmod 0777, $root or die "$root: $!\n"; # for whom the server becomes
	my $url    = postgres_url($root);
	my $where  = $kind eq 'folder' ? "folder:$root" : $kind;
	my @server = map {
		Http->new( templates => { sums => { program => $PROGRAM, %FILE }, makes => lua('return run.artifact{name = "a", data = ("x"):rep(3000000)}'),
				draws => lua('return run.artifact{name = "a.png", mimeType = "image/png", data = "\\137PNG\\r\\n\\26\\n" .. ("x"):rep(300000)}') },
			tokens => { ada => 'a' }, config => "[store]\nurl = $url\nartifacts = $where\n" )
	} 1, 2;
	my ( $s, $t ) = @server;
	my $files  = sub { grep { -f } map { glob "$_/artifacts/*/*" } $root, map { $_->{state} } @server };
	my $put    = $s->fetch( 'PUT', '/artifacts?name=large', {%ADA}, $bytes );
	my $id     = $put->{json}{artifactId};

	is( $put->{json}{sha256}, sha256_hex($bytes), "$kind: a file is given to one server" );
	is( sha256_hex( $t->fetch( 'GET', "/artifacts/$id", {%ADA} )->{body} ), sha256_hex($bytes), '  another gives it' );
	is( $t->fetch( 'GET', "/artifacts/$id", { %ADA, Range => 'bytes=1048570-1048580' } )->{body}, substr( $bytes, 1048570, 11 ), '  or a part of it' );
	is( $t->client('ada')->greeted->run_sync( sums => { f => { '$artifact' => $id } } )->{result}{sum}, sha256_hex($bytes), '  and a program there is given it' );
	my $run = $s->client('ada')->greeted->run_sync( makes => {} );
	my $of_run = $run->{artifacts}[0]{artifactId} // '';
	is( length $t->fetch( 'GET', "/artifacts/$of_run", {%ADA} )->{body}, 3000000, '  what a run made is anybody\'s to give' );
	my $drawn = $s->client('ada')->greeted->run_sync( draws => {} );
	my $shown = $t->client('ada')->greeted->tool( get_task_run => { runId => $drawn->{runId} } );
	is( join( ' ', map { $_->{type} } @{ $shown->{content} } ), 'text resource_link image', "$kind: a picture is shown by another server as well" );
	is( scalar $files->(), $kind eq 'folder' ? 3 : 0, '  as files in the one folder, or as none' );
	is( $t->fetch( 'DELETE', "/artifacts/$id", {%ADA} )->{status}, 204, '  the other may delete it' );
	is( $s->fetch( 'GET', "/artifacts/$id", {%ADA} )->{status}, 404, '  and then it is gone' );
	is( scalar $files->(), $kind eq 'folder' ? 2 : 0, '  from there' );
	$_->stop for @server;
}

done_testing();
