#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# paddock artifact put, and run -i key=@@FILE: local files given to runs, by a daemon and by
# a private server; the output, and the errors.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;
use Digest::SHA qw(sha256_hex);

my $FILE = {type => 'string', format => 'paddock-file'};
my %templates = (
    sums => lua('local n = #(inputs.f or "") for _, text in pairs(inputs.files or {}) do n = n + #text end for _, text in ipairs(inputs.list or {}) do n = n + #text end return {n = n}',
	inputsSchema => {type => 'object', properties => {f => $FILE, text => {type => 'string'}, n => {type => 'integer'},
		list => {type => 'array', items => $FILE}, files => {type => 'object', additionalProperties => $FILE}}, additionalProperties => false}),
    given => {program => "#!/usr/bin/perl\nuse JSON::PP; my \$in = decode_json(join '', <STDIN>); print encode_json([\$in->{f}, -s \$in->{f}])\n",
	inputsSchema => {type => 'object', properties => {f => $FILE}}},
);

for (users()) {
	my ($who, $user) = @$_;
	my $d = Daemon->new(templates => \%templates, user => $user);
	my $cli = Cli->new;
	my %as = (user => $user);
	my $id;

	$d->ready;
	chown $user, $user, $cli->{root}, $cli->{here} if defined $user;
	write_file("$cli->{here}/a b.csv", "1,2\n" x 100_000);
	write_file("$cli->{here}/b.bin", "\xff\0");
	chmod 0755, $cli->{root}, $cli->{here};
	for (['a daemon', '--socket', $d->{socket}], ['a private server', '--templates', "$d->{root}/templates", '--state-dir', "$cli->{root}/state"]) {
		my ($what, @there) = @$_;
		my $paddock = sub { return $cli->run([@_, @there], %as) };
		my $r = $paddock->('artifact', 'put', 'a b.csv', '-q');

		like($r->{out}, qr/\Aart_[2-7a-z]{26} 400000 @{[sha256_hex("1,2\n" x 100_000)]}\n\z/, "$who, $what: put prints id, bytes and digest");
		($id) = $r->{out} =~ /(art_\S+)/;
		$r = $paddock->('artifact', 'put', 'b.bin', '--name', 'x.json', '--mime', 'text/x', '--json', '-q');
		my $a = json_to($r->{out});
		is("$a->{name} $a->{mimeType} $a->{bytes}", 'x.json text/x 2', 'artifact put takes another name and type');
		$r = $cli->run(['artifact', 'put', '-', '--name', 'in.txt', '-q', @there], %as, in => 'from a pipe');
		like($r->{out}, qr/ 11 @{[sha256_hex('from a pipe')]}$/, 'artifact put takes standard input');
		like($paddock->('artifact', 'ls')->{out}, qr/ 11  text\/plain  in\.txt\n.* 2  text\/x +x\.json\n.* 400000  text\/csv +a b\.csv\n\z/, 'ls has them, the newest first');
		is(scalar @{json_to($paddock->('artifact', 'ls', '--json')->{out})}, 3, 'artifact ls --json has each file');
		is($paddock->('artifact', 'cat', $id)->{out}, "1,2\n" x 100_000, 'cat gives one back');
		$r = $paddock->('run', 'sums', '-i', 'f=@@a b.csv', '-i', 'files.x.csv=@@b.bin', '-i', 'list=@@b.bin', '-i', 'list=text');
		is($r->{out}, qq({"n": 400008}\n), 'a run is given files that are uploaded for it') or diag $r->{err};
		like($r->{err}, qr/uploaded a b\.csv as art_/, 'the command says which file was uploaded');
		is($paddock->('run', 'given', '-i', 'f=@@a b.csv', '-q')->{out} =~ s/\s//gr, '["in/ab.csv",400000]', 'a program gets an uploaded file');
		is($paddock->('run', 'given', '-i', "f:={\"\$artifact\": \"$id\", \"name\": \"c\"}", '-q')->{out} =~ s/\s//gr, '["in/c",400000]', 'a program gets an artifact by id');
		is($paddock->('run', 'given', '-i', 'f=@b.bin', '-q')->{out} =~ s/\s//gr, '["in/b.bin",2]', 'a small file goes with the call');
		is($paddock->('retry', 'last', '-q')->{out} =~ s/\s//gr, '["in/b.bin",2]', 'retry gives the file again') if $what eq 'a daemon';
		write_file("$cli->{here}/huge", '');
		truncate "$cli->{here}/huge", 300 << 20;
		write_file("$cli->{here}/large", 'a' x (17 << 20));
		for (['f=@large', qr/too large to be sent with the call: use \@\@ instead of \@, KEY=\@\@FILE, which uploads the file first/],
		     ['f=@huge', qr/huge: it is too large to be sent with the call; @@ instead of @ uploads it first/],
		     ['f=@@none', qr/none: No such file/], ['f=@@.', qr/\.: Is a directory/], ['n=@@b.bin', qr/n has to be/],
		     ["f:={\"\$artifact\": \"art_@{['a' x 26]}\"}", qr/you have no artifact/]) {
			my ($word, $says) = @$_;

			$r = $paddock->('run', 'sums', '-i', $word);
			ok($r->{status} =~ /^(?:2|4|125)$/ && $r->{err} =~ $says, "$word is refused") or diag "$r->{status} $r->{err}";
		}
		is($paddock->('artifact', 'put', 'none')->{status}, 2, 'a file that does not exist is no upload');
	}
	if (!on_postgres()) { # whose rows have the bytes
		my ($stored) = grep { -s == 400_000 } glob "$d->{state}/artifacts/*/*";

		open my $file, '+<', $stored or BAIL_OUT("no file is stored: $!");
		print {$file} '3';
		close $file;
		said($cli->run(['artifact', 'get', $stored =~ s{.*/}{}r, '-o', 'damaged', '--socket', $d->{socket}], %as), 125, qr/what came is not what was stored: its sha256 differs/,
		     "$who: an artifact that was damaged is told");
	}
	$d->stop;
}
done_testing();
