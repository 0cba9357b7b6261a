#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# cli_complete.t - completion: the words which "paddock complete" offers, and the line after
# completion in bash, zsh and fish.
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;
use ReplHost;
use Socket ();
use Time::HiRes qw(time);

my $artifacts = 'for _, n in ipairs{"rows.csv", "$(touch owned)", "two words.txt", "-oowned", "--socket", "@files", "@dirs"} do run.artifact{name = n, mimeType = "text/plain", data = "x"} end ';
my %templates = (good => lua("$artifacts return 1", inputsSchema => {type => 'object', properties => {
	csv => {type => 'string', description => "Text\nof " . 'a table ' x 20}, count => {type => 'integer'}, 'two words' => {}, '$(touch owned)' => {}}}), goes => lua('return 1'), kept => repl_host(), run_it => lua('return 1', inputsSchema => {type => 'object', properties => {code => {type => 'string'}}}), slow => lua('run.sleep(600000)', limits => {maxTimeoutMs => 600000}));
my $run = qr/run_[a-z2-7]{26}/;
my $cli = Cli->new(templates => \%templates);
my $here = $cli->{here};

mkdir "$here/folder";
write_file("$here/file.json", '{}');

sub offered {
	my ($words, %o) = @_;
	my $r = $cli->run(['complete', '--', @$words], %o);

	is("$r->{status}$r->{err}", '0', "complete @$words: quiet");
	return $r->{out};
}

# ---- without a server ----

my @private = ('--templates', "$cli->{root}/templates");
my $start = time;
for ([['ps', '--status', ''], "queued\nrunning\nsucceeded\npartial_success\nfailed\ncanceled\n", 'the values of a flag'],
     [['ps', '--status', 'ca'], "canceled\n", 'as they are begun'],
     [['ps', '--status=ca'], "--status=canceled\n", 'also behind a ='],
     [['client-config', '--client', 'cl'], "claude-code\nclaude-desktop\n", 'clients'],
     [['run', '--mode', ''], "sync\nasync\nauto\n", 'modes'],
     [['run', @private, 'go'], "goes\ngood\n", 'templates where one belongs'],
     [['ps', @private, '--template', 'sl'], "slow\n", 'as a flag\'s value, too'],
     [['run', @private, 'good', ''], '', 'no second one'],
     [['run', @private, 'good', '-t', ''], '', 'none for a duration'],
     [['run', @private, 'good', '-i', 'co'], "count=\n", 'inputs of the template, asked of a private server'],
     [['run', @private, 'good@1.0.0', '--set', 'c'], "count=\ncsv=\tText of a table a table a table a table a table a table a t…\n", 'of a version, with what they are, as of templates'],
     [['run', @private, '-i', ''], '', '... once it is named'],
     [['run', @private, 'good', '-i', 'csv=@@fi'], "csv=\@\@file.json\n", 'files behind \@\@'],
     [['run', 'good', '-i', 'csv=@fo'], "csv=\@folder/\n", '... and \@'],
     [['run', '--input', ''], "\@files\n", 'a file is the shell\'s to find'],
     [['run', '-o', ''], "\@dirs\n", 'a folder as well'],
     [['template', 'check', ''], "\@dirs\n", 'a package is one'],
     [['schema', ''], "\@files\n", 'schemas are files'],
     [['doctor', ''], '', 'nothing where nothing belongs'],
     [['template', 'new', ''], '', 'nor a name for what is to be'],
     [['repl', ''], "python\nnode\nbash\nlua\n", 'the languages of paddock repl are offered'],
     [['repl', 'python', ''], '', 'no second language is offered'],
     [['notebook', ''], "ls\tnotebooks whose variables are kept\nrm\tend a notebook, with its variables and files\n", 'the commands on notebooks are offered'],
     [['help', 'templ'], "template\n", 'help on commands'],
     [['help', 'template', 'sh'], "show\ta template's inputs, limits, resources and prompts\n", 'of two words, with what they do'],
     [['ps', '--no'], "--nodes\tinstead of runs, the servers that have one database\n", 'a flag, with what it is for'],
     [['status', '--state-dir', "$cli->{root}/none", ''], '', 'no run of a state folder that is not there'],
     [['cancel', 'run_', '--socket', '/nowhere', ''], '', 'nor where none answers']) {
	my ($words, $want, $name) = @$_;

	my $got = offered($words);
	$got = join '', sort { $a cmp $b } split /^/, $got if $name =~ /templates/;
	is($got, $want, $name);
}

ok(!-e "$cli->{root}/none", 'completion makes no state folder');

# Against a server which never answers, the shell gets its line back.
{
	socket my $mute, Socket::PF_UNIX(), Socket::SOCK_STREAM(), 0 or die $!;
	bind $mute, Socket::pack_sockaddr_un("$cli->{root}/mute") or die $!;
	listen $mute, 5;
	my $before = time;
	is(offered(['status', '--socket', "$cli->{root}/mute", '']), '', 'a mute server offers nothing');
	cmp_ok(time - $before, '<', $PATIENCE, 'completion does not wait for a mute server');
}

# Without a daemon, words from the record of a private server are offered, too.
{
	my @mine = $cli->private;
	my ($mine) = $cli->run(['run', 'good', '-q', '--json', @mine])->{out} =~ /($run)/;

	is(offered(['status', @mine, '']), "$mine\tgood, succeeded\nlast\tgood, succeeded\n", 'runs of a private server\'s record');
	is(offered(['artifact', 'cat', @mine, 'last', '']), "rows.csv\n", 'artifacts of a private server\'s run are offered');
	like(offered(['artifact', 'cat', @mine, 'art_']), qr/^art_\S+\trows\.csv\n/m, 'artifacts of a private server are offered by id');
	is(offered(['cancel', @mine, '']), '', 'no run of a private server can be cancelled');
}

# ---- with one ----

# The words offered with a running daemon, which has half a second for each answer: on a
# busy machine the first try may offer nothing.
sub offered_there {
	my ($words) = @_;
	my $r;

	until_true("an offer for @$words", sub { $r = $cli->run(['complete', '--', @$words]); "$r->{out}$r->{err}" });
	is("$r->{status}$r->{err}", '0', "complete @$words: quiet");
	return $r->{out};
}

my $d = Daemon->new(templates => \%templates);
my @there = ('--socket', $d->{socket});
$d->ready;
my ($over) = $cli->run(['run', 'good', '-q', '--json', @there])->{out} =~ /($run)/;
my ($slow) = $cli->run(['run', 'slow', '--mode', 'async', @there])->{out} =~ /($run)/;

until_true('it to run', sub { $cli->run(['status', $slow, @there])->{out} =~ /^status +running$/m });
is(offered_there(['status', @there, '']), "$slow\tslow, running\nlast\tslow, running\n$over\tgood, succeeded\n", 'runs, the newest first, with what they are');
is(offered_there(['explain', @there, substr $over, 0, 20]), "$over\tgood, succeeded\n", 'a run is offered by the beginning of the id') if substr($over, 0, 20) ne substr($slow, 0, 20);
is(offered_there(['cancel', @there, '']), "$slow\tslow, running\n", 'of those that can be cancelled');
is(offered_there(['artifact', 'get', @there, '']), "$slow\tslow, running\nlast\tslow, running\n$over\tgood, succeeded\n", 'runs that have artifacts');
like(offered_there(['artifact', 'cat', @there, 'art_']), qr/\A(?:art_[a-z2-7]{26}\t[^\n]+\n){7}\z/, 'ids of artifacts are offered');
my ($put) = $cli->run(['artifact', 'put', 'file.json', '-q', @there])->{out} =~ /(art_\S+)/;
is(offered_there(['artifact', 'rm', @there, '']), "$put\tfile.json\n", 'uploads, which can be deleted');
like(offered_there(['artifact', 'get', @there, substr $put, 0, 20]), qr/^\Q$put\E\tfile\.json\n/m, 'uploads are offered to artifact get');
is(offered_there(['run', 'good', @there, '-i', 'cou']), "count=\n", 'the daemon tells inputs, too');
is(offered_there(['artifact', 'cat', @there, $over, '']), "rows.csv\n", 'names of artifacts are offered unless a shell would act on a name');
is(offered_there(['artifact', 'cat', @there, substr($over, 0, 29), '']), "rows.csv\n", 'names of artifacts are offered for the beginning of a run\'s id');
is(offered_there(['run', 'run_it', @there, '-i', '']), "code=\n", 'a template may be called as runs are');
is(offered_there(['retry', @there, $over, '-i', 'cou']), "count=\n", 'inputs of a run\'s template');
is(offered(['artifact', 'cat', @there, $over, 'rows.csv', '']), '', 'no word is offered after the artifact\'s name');
is(join(' ', sort split /\n/, offered_there(['run', @there, 'go'])), 'goes good', 'templates are the daemon\'s');

$cli->run(['run', 'good', '-q', @there]);
is(offered_there(['artifact', 'cat', @there, 'last', '']), "rows.csv\n", 'names of the last run\'s artifacts');
is(offered_there(['retry', @there, 'last', '-i', 'cou']), "count=\n", 'inputs of the last run are offered');

# ---- all there is: by help, completion and the manual ----

{
	my @all = map { s/ \z//r } $cli->run(['help'])->{out} =~ /^  ([a-z][a-z-]*(?: [a-z]+)?)  +\S/mg;
	my $man = read_file("$TOP/man/paddock.1") =~ s/\\-/-/gr =~ s/Fl Fl /--/gr =~ s/Fl (\w)/-$1/gr;
	my (@unoffered, @untold);

	same_json([sort map { s/\t.*//r } split /\n/, offered([''])], [sort keys %{{map { (split / /)[0] => 1 } @all}}], 'each command is offered');
	for my $command (@all) {
		my @words = split / /, $command;
		my @flags = $cli->run(['help', @words])->{out} =~ /^  (?:-\w,|   ) (--[a-z-]+)/mg;
		my ($global) = $cli->run(['help', @words])->{out} =~ /explains:([^.]*)/s;
		my %offered = map { s/\t.*//r => 1 } split /\n/, $cli->run(['complete', '--', @words, '--'])->{out};

		push @unoffered, "$command: $_" for grep { !delete $offered{$_} } @flags, $global =~ /(--[a-z-]+)/g;
		push @unoffered, "$command: $_ is no flag" for keys %offered;
		push @untold, "$command $_" for grep { $man !~ /\Q$_\E\b/ } @flags;
		push @untold, $command if $command ne 'help' && $man !~ /^\.It (?:Xo )?Ic \Q$command\E\b/m;
		push @unoffered, $command if @words == 2 && (grep { s/\t.*//r eq $words[1] } split /\n/, $cli->run(['complete', '--', $words[0], ''])->{out}) != 1;
	}
	cmp_ok(scalar @all, '>', 20, @all . ' commands');
	is(join(', ', @unoffered), '', 'each command\'s flags are offered, and no others');
	is(join(', ', @untold), '', 'each command is in the manual');
}

# ---- the shells ----

# The last word of LINE as the shell COMMAND has it after typing and completion. The shell
# is real and runs on a terminal of its own.
our ($as, $path) = ('paddock', "$BUILD:$ENV{PATH}");

sub typed {
	my ($line, %o) = @_;
	my ($master, $slave) = Cli::open_pty(200);
	my $pid = fork // die $!;

	if ($pid == 0) {
		Cli::enter_pty($master, $slave, 1);
		chdir $here;
		%ENV = (PATH => $path, HOME => $cli->{root}, TERM => 'dumb', LC_ALL => 'C', PS1 => 'at your service: ', %{$o{env} // {}});
		exec @{$o{command}} or POSIX::_exit(127);
	}
	close $slave;
	my $seen = '';
	local $SIG{ALRM} = sub { die "$o{command}[0] does not answer: $seen\n" };
	alarm $PATIENCE;
	while ($seen !~ /at your service: /) {
		sysread $master, $seen, 65536, length $seen or last;
	}
	syswrite $master, "$line\t\001printf '<%s>' \005\nexit\n";
	1 while sysread $master, $seen, 65536, length $seen;
	alarm 0;
	waitpid $pid, 0;
	my ($words) = $seen =~ /^((?:<[^<>\n]*>)+)/m;
	return $words ? ($words =~ /<(.*?)>/g)[-1] : "nothing but $seen";
}

write_file("$cli->{root}/bashrc", "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; PS1='at your service: '; source $TOP/etc/completion/paddock.bash\n");
mkdir "$cli->{root}/zsh";
symlink "$TOP/etc/completion/paddock.zsh", "$cli->{root}/zsh/_paddock" or die $!;
write_file("$cli->{root}/zsh/.zshrc", "unsetopt beep; fpath=(\$ZDOTDIR \$fpath); autoload -U compinit; compinit -u -D; PS1='at your service: '\n");

sub bash {
	return typed(join(' ', $as, @_), command => ['bash', '--noprofile', '--rcfile', "$cli->{root}/bashrc", '-i']);
}

sub zsh {
	return typed(join(' ', $as, @_), command => ['zsh', '-d', '-i'], env => {ZDOTDIR => "$cli->{root}/zsh"});
}

# fish prints its completions without a terminal.
sub fish {
	my (@words) = @_;

	open my $out, '-|', 'env', '-C', $here, "PATH=$path", "HOME=$cli->{root}", 'fish', '--no-config', '-c',
	    'source $argv[1]; complete -C "$argv[2]" | string replace -r "\\t.*" ""', "$TOP/etc/completion/paddock.fish", join ' ', $as, @words
	    or die "fish: $!";
	my @lines = map { chomp; $_ } <$out>;
	close $out;
	return join ' ', sort @lines;
}

# A busy daemon offers nothing at first: the word stays as typed.
sub busy {
	my ($said, @words) = @_;

	return until_true("an offer for @words", sub { my $got = $said->(@words); $got ne $words[-1] && $got });
}

sub beside {
	my ($said) = @_;

	local ($as, $path) = ("$BUILD/paddock", $ENV{PATH});
	return $said->('expl');
}

my %shells = (bash => \&bash, zsh => \&zsh, fish => \&fish);
write_file("$here/two words.json", '{}');
for my $name (sort keys %shells) {
	SKIP: {
		skip_lacking(21, $name);
		my $said = $shells{$name};

		is($said->('expl'), 'explain', "$name completes a command");
		is($said->('artifact', 'c'), 'cat', "$name completes the second word of a command");
		is($said->('ps', '--status', 'f'), 'failed', 'a value');
		is($said->('ps', '--status=f'), '--status=failed', 'a value behind a =');
		is(busy($said, 'cancel', @there, substr $slow, 0, 5), $slow, 'a run, without what is said of it');
		is(busy($said, 'cancel', @there, substr $slow, 4, 20), substr($slow, 4), 'a run, without what each id begins with');
		is($said->('schema', 'fi'), 'file.json', 'a file');
		is($said->('schema', 'two\ w'), 'two words.json', 'a file with a blank');
		is($said->('run', '--input=fi'), '--input=file.json', 'a file behind a =');
		like($said->('template', 'check', 'fo'), qr{^folder/?$}, 'a folder');
		like($said->('run', '--out=fo'), qr{^--out=folder/?$}, 'a folder behind a =');
		like($said->('template', 'build', '--registry', 'http://localhost:1/', 'fo'), qr{^folder/?$}, 'a folder behind a URL');
		is(busy($said, 'run', 'good', @there, '-i', 'cou'), 'count=', 'an input');
		is(busy($said, 'run', 'good@1.0.0', @there, '-i', 'cou'), 'count=', 'an input of a version');
		is(busy($said, 'run', 'good', @there, '-i', 'count:=3', '-i', 'cs'), 'csv=', 'an input behind one of JSON');
		is(busy($said, 'run', 'good', @there, '-i', 'csv="a b"', '-i', 'cou'), 'count=', 'an input behind one with a blank');
		is($said->('run', 'good', '-i', 'csv=@fi'), 'csv=@file.json', 'a file of an input');
		is($said->('run', 'good', '-i', 'csv=@@fi'), 'csv=@@file.json', 'a file that is uploaded');
		is($said->('run', 'good', '-i', 'csv=@fo'), 'csv=@folder/', 'a folder with files of an input');
		is(beside($said), 'explain', 'a command of a paddock that is on no path');
		is(busy($said, 'artifact', 'cat', @there, 'last', 'ro'), 'rows.csv', 'an artifact');
	}
}
$cli->run(['run', 'kept', '-i', 'notebook=mine', '-i', 'code=x', '-q', @there]);
is(offered_there(['notebook', 'rm', @there, '']), "mine\tkept\n", 'notebooks are offered, with their templates');
is(offered_there(['repl', @there, '--notebook', '']), "mine\tkept\n", 'a notebook to go back to is offered');
ok(!-e "$here/owned", 'no name acted');
$d->stop;
ok(strays_gone(), 'nothing is left behind');
done_testing();
