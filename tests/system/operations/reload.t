#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "paddock reload" prints the accepted and the refused parts, to the daemon's user alone;
# and with watch_templates an edited template is served without a reload.
use lib 'tests/lib';
use Paddock;
use Daemon;
use Cli;
use File::Path qw(remove_tree);

my $cli = Cli->new;

sub reload { my ($s, @flags) = @_; return $cli->run(['reload', '--socket', $s->{socket}, @flags]) }

# ---- asked for ----
{
	my $s = Daemon->new(config => "[limits]\nmax_queued_runs = 7\n",
			    templates => {stays => lua('return 1'), changes => lua('return 1'), goes => lua('return 1'), breaks => lua('return 1')});

	$s->ready;
	is(reload($s)->{out}, "configuration  taken\ntemplates      4, as they were\n", 'what is as it was is taken as it was');

	write_file("$s->{root}/templates/changes-1.0.0/main.lua", 'return function() return 2 end');
	remove_tree("$s->{root}/templates/goes-1.0.0");
	$s->write_templates({comes => lua('return 3')});
	write_file("$s->{root}/templates/breaks-1.0.0/template.json", '{');
	$s->put_config("[limits]\nmax_queued_runs = 8\n[server]\nnode_name = other\nuser = other\n");
	my $r = reload($s);
	is($r->{status}, 3, 'what is taken in part is a partial success');
	like($r->{out}, qr{\Aconfiguration  taken, but for node_name and user, which take a restart\ntemplates      4: 1 new \(comes 1\.0\.0\), 1 changed \(changes 1\.0\.0\), 1 gone \(goes 1\.0\.0\)\nrefused        \Q$s->{root}\E/templates/breaks-1\.0\.0: .+; what was loaded before is kept\n\z},
	     'a reload says which templates are new, changed, gone and refused');
	my $c = $s->client->greeted;
	is($c->run_sync('changes')->{result}, 2, 'a changed template serves the new code');
	is($c->run_sync('comes')->{result}, 3, 'a new template serves the new code');
	is($c->run_sync('breaks')->{result}, 1, 'a refused template serves the old code');

	my $told = json_to(reload($s, '--json')->{out});
	is_deeply([$told->{configuration}, $told->{templates}, scalar @{$told->{refused}}, $told->{refused}[0]{kept}],
		  ['taken', 4, 1, JSON::PP::true()], 'the same as JSON');

	remove_tree("$s->{root}/templates/breaks-1.0.0");
	$s->put_config("[limits]\nmax_queued_runs = many\n");
	$r = reload($s);
	is($r->{status}, 125, 'a configuration that is wrong is a failure');
	like($r->{out}, qr/\Aconfiguration  refused: \S+paddock\.conf:2: .*max_queued_runs.*\ntemplates      4, as they were\n\z/, 'a refused configuration is told with the line');
	$s->put_config('');
	is(reload($s)->{status}, 0, 'a mended configuration reloads');

	# several reloads at once: each is answered
	my @all = map { $s->client->greeted } 1 .. 5;
	my @ids = map { $_->request('paddock/reload', {}) } @all;
	is(scalar(grep { ($all[$_]->answer($ids[$_])->{result}{configuration} // '') eq 'taken' } 0 .. $#all), 5, 'each of five who ask at once is answered');
	$_->hang_up for @all, $c;

	# a client which has left meanwhile
	my $gone = $s->client->greeted;
	$gone->request('paddock/reload', {});
	$gone->flush;
	$gone->hang_up;
	is(reload($s)->{status}, 0, 'one that does not wait for its answer is nobody\'s trouble');

	SKIP: {
		skip_lacking(1, 'root');
		chmod 0666, $s->{socket};
		my $other = $s->client(65534)->greeted;
		my $answer = $other->call('paddock/reload', {});
		like($answer->{error}{message} // '', qr/^a reload is for root and the user who runs this server/, 'nobody else may ask for it');
		$other->hang_up;
	}
	$s->stop;
}

is($cli->run(['reload', $cli->private])->{status}, 125, 'a private server has nothing to load again');

# ---- a program whose package is broken ----
{
	my $s = Daemon->new(templates => {program => {program => "#!/bin/sh\necho 1\n"}});
	my $manifest = "$s->{root}/templates/program-1.0.0/template.json";

	$s->ready;
	my $c = $s->client->greeted;
	my $whole = read_file($manifest);
	write_file($manifest, '{');
	like($c->run_sync('program')->{error}{message}, qr/^program 1\.0\.0 was changed after it was loaded/, 'a program whose package was changed is not run');
	is(reload($s)->{status}, 3, 'a reload finds that the package is broken');
	my $e = $c->run_sync('program')->{error};
	like($e->{message}, qr/^the package of program 1\.0\.0 is broken since it was loaded/, 'a run of the program says so from then on');
	like($e->{recoverHint}, qr/^the operator mends the package/, 'the hint for a broken package is to mend the package');
	write_file($manifest, $whole);
	is(reload($s)->{status}, 0, 'the mended package is loaded');
	is($c->run_sync('program')->{result}, 1, 'a program of the mended package runs');
	$c->hang_up;
	$s->stop;
}

# ---- watched ----
{
	my $s = Daemon->new(config => "[server]\nwatch_templates = yes\n", templates => {edited => lua('return 1'), other => lua('return 1')});

	$s->ready;
	my $c = $s->client->greeted;
	is($c->run_sync('edited')->{result}, 1, 'a template is served as it was');
	write_file("$s->{root}/templates/edited-1.0.0/main.lua", 'return function() return 2 end');
	ok(until_true('the edit', sub { ($c->run_sync('edited')->{result} // 0) eq 2 }), 'one that is edited is served anew without being asked for');
	$s->write_templates({fresh => lua('return 5')});
	ok(until_true('the new one', sub { ($c->run_sync('fresh')->{result} // 0) eq 5 }), 'a new template is served without being asked for');
	remove_tree("$s->{root}/templates/other-1.0.0");
	ok(until_true('its end', sub { ($c->run('other', {})->{view}{errorCode} // '') eq 'TEMPLATE_NOT_FOUND' }), 'a removed template is gone without being asked for');

	$s->write_templates({reads => {program => "#!/bin/sh\ncat \"\${0%/*}/lib/a\"\n"}});
	mkdir "$s->{root}/templates/reads-1.0.0/lib";
	for my $n (6, 7) {
		write_file("$s->{root}/templates/reads-1.0.0/lib/a", $n);
		ok(until_true("what says $n", sub { ($c->run_sync('reads')->{result} // 0) eq $n }), "a folder that comes is watched, too: $n");
	}

	my $linked = Paddock::fresh_root();
	write_file("$linked/linked/$_", read_file("$s->{root}/templates/fresh-1.0.0/$_") =~ s/fresh/linked/gr) for 'template.json', 'main.lua';
	chmod 0755, $linked, "$linked/linked";
	symlink "$linked/linked", "$s->{root}/templates/linked";
	ok(until_true('a link', sub { ($c->run_sync('linked')->{result} // 0) eq 5 }), 'a package may be linked there');
	write_file("$linked/linked/main.lua", 'return function() return 8 end');
	ok(until_true('its edit', sub { ($c->run_sync('linked')->{result} // 0) eq 8 }), 'a linked package is watched where the link leads');

	my $load = sub {
		my ($file) = @_;
		my $n = () = $s->log_text =~ /reload=done/g;

		write_file("$s->{root}/templates/$file", 'x');
		until_true('a load', sub { (() = $s->log_text =~ /reload=done/g) > $n });
	};
	$load->('.before'); # the edit above may be loaded in two parts
	my ($zygote) = grep { (read_file("/proc/$_/cmdline") // '') =~ /\0program/ } $s->zygotes;
	$load->('.notes');
	is($c->run_sync('reads')->{result}, 7, 'a file that is of no template changes nothing');
	ok(alive($zygote), 'a file of no template prepares no programs anew');

	$s->put_config("[server]\nwatch_templates = no\n");
	is($s->reload, 'done', 'a reload ends it');
	my $fds = sub { scalar grep { (readlink($_) // '') =~ /inotify/ } glob "/proc/$s->{pid}/fd/*" };
	my $none = $fds->(); # but for what the store has
	$s->put_config("[server]\nwatch_templates = yes\n");
	is($s->reload, 'done', 'another begins it');
	is($fds->(), $none + 1, 'watch_templates opens one watch');
	is($s->reload, 'done', 'a second reload with watch_templates');
	is($fds->(), $none + 1, 'a second reload leaves one watch');
	$c->hang_up;
	$s->stop;
}
done_testing;
