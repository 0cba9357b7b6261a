#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Uploads as seen by a program which wants to know the owner: the program's mounts, links
# and folders tell of a given file only the file itself, and two files of one requestor have
# nothing in common.
use lib 'tests/lib';
use Paddock;

my $LOOKS = <<'PERL';
#!/usr/bin/perl
use Cwd;
use JSON::PP;
my $in = decode_json(join '', <STDIN>);
my %seen = (here => getcwd);
for my $at ('/proc/self/mountinfo', '/proc/self/mounts') {
	open my $f, '<', $at or next;
	$seen{mounts} .= join '', grep { m{ \Q$seen{here}\E/in|artifacts|art_|up_|run_} } <$f>;
}
$seen{links} = join ' ', map { readlink($_) // '' } glob '/proc/self/fd/* in/*';
$seen{dirs} = join ' ', glob '/.paddock/* /.paddock/artifacts/* /.paddock/artifacts/*/* in/../*';
$seen{stat} = [(stat $in->{f})[3, 4, 5]];
print encode_json(\%seen);
PERL
my %SCHEMA = (inputsSchema => {type => 'object', properties => {f => {type => 'string', format => 'paddock-file'}}});

for (users()) {
	my ($who, $user) = @$_;
	my $s = Paddock->new(user => $user, templates => {looks => {program => $LOOKS, %SCHEMA}});

	$s->init;
	my $put = sub {
		my $id = $s->call('paddock/putArtifact', {bytes => 1, name => 'f'})->{result}{uploadId};
		my $said;

		$s->{out} .= 'x';
		$s->wait_for('an artifact', sub { ($said) = grep { $_->{method} eq 'notifications/paddock/artifact' && $_->{params}{uploadId} eq $id } @{$s->{notes}} });
		return $said->{params}{artifact}{artifactId};
	};
	my @ids = map { $put->() } 1, 2;
	my @seen = map { $s->run_sync(looks => {f => {'$artifact' => $_}})->{result} } @ids;

	like($seen[0]{mounts} // '', qr{ \Q$seen[0]{here}\E/in}, "$who: a program sees where its file is mounted");
	for my $i (0, 1) {
		my $text = json_of($seen[$i]);

		unlike($text, qr/up_/, 'a run\'s artifact is in no folder of the requestor');
		$text =~ s/\Q$ids[$i]\E/ID/g;
		unlike($text, qr/art_/, 'a run sees no other artifact\'s id');
		$seen[$i] = join ' ', sort map { s/\d+/N/gr } grep { /artifacts/ } split ' ', $text;
	}
	is($seen[0], $seen[1], 'paths of two requestors\' files differ by ids alone');
	my @folders = map { (glob "$s->{state}/artifacts/*/$_")[0] =~ m{artifacts/([^/]+)/} } @ids;
	is_deeply(\@folders, \@ids, 'each artifact lies in a folder by the id');
	$s->stop;
}
done_testing();
