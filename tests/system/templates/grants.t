#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# grants.t - a template has a requested right when the operator grants the right: each key
# requested and not granted, granted to all, to one template, to one package by digest;
# before and after a reload, under root and nobody, and never for a copy of a shipped
# template.
use File::Temp;
use lib 'tests/lib';
use Paddock;
use Cli;
use Daemon;
use Http qw(sha256_hex);

my $room = File::Temp->newdir(TMPDIR => 1);
chmod 0755, $room;
write_file("$room/data/file", 'secret');
write_file("$room/other/file", 'other');
chmod 0755, "$room/data", "$room/other";

my $cat = "#!/bin/sh\nfor f in $room/*/file; do cat \$f 2>&1; done | tr -d '\\n' >o\n" .
    "printf '\"%s\"' \"\$(cat o)\"\n";
my %templates = (
    plain => {},
    tabs => {tools => ['create_tab', 'navigate']},
    reads => {program => $cat, permissions => {readPaths => ["$room/data"]}},
    dials => {permissions => {network => ['db.example.org:5432']}},
    keys => {permissions => {secrets => ['api.key']}},
    locks => {program => "#!/bin/sh\necho 1\n", permissions => {locks => JSON::PP::true}},
    lua_reads => {permissions => {readPaths => ["$room/data"]}},
    flies => {tools => ['create_tab', 'fly']},
    odd => {permissions => {readPaths => ['/$(id)']}},
    quiet => {permissions => {locks => JSON::PP::false}, tools => []},
);
my %user = as_root() ? (root => undef, nobody => 65534) : (me => undef);

# Requested, and not granted: the code, the key, and the line which would grant the right.
my @missing = (
    [tabs => 'tools', ['create_tab', 'navigate'],
     'tabs asks for the tools create_tab navigate, which are not granted; the operator can grant them, ' .
	 'by tools = create_tab navigate in [grant "tabs"] of paddock.conf'],
    [reads => 'read_paths', ["$room/data"],
     "reads asks to read $room/data, which is not granted; the operator can grant it, " .
	 "by read_paths = $room/data in [grant \"reads\"] of paddock.conf"],
    [lua_reads => 'read_paths', ["$room/data"],
     "lua_reads asks to read $room/data, which is not granted; the operator can grant it, " .
	 "by read_paths = $room/data in [grant \"lua_reads\"] of paddock.conf"],
    [dials => 'network', ['db.example.org:5432'],
     'dials asks to connect to db.example.org:5432, which is not granted; the operator can grant it, ' .
	 'by network = db.example.org:5432 in [grant "dials"] of paddock.conf'],
    [keys => 'secrets', ['api.key'],
     'keys asks for the secret api.key, and no Lua template can have secrets in this version of paddock'],
    [locks => 'locks', ['yes'],
     'locks asks to lock files, which is not granted; the operator can grant it, ' .
	 'by locks = yes in [grant "locks"] of paddock.conf'],
);

sub is_refused {
	my ($s, $id, $what) = @_;
	my $r = $s->run_sync($id);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($r->{errorCode}, 'PERMISSION_NOT_ALLOWED', $what) || diag(json_of($r));
	ok(!$r->{runId}, 'there is no run');
	return $r;
}

sub view {
	my ($s, $id) = @_;

	return $s->tool(list_task_templates => {templateId => $id})->{view}{templates}[0];
}

sub succeeds {
	my ($s, $id, $what) = @_;
	my $r = $s->run_sync($id);

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($r->{status}, 'succeeded', $what) || diag(json_of($r));
	return $r->{result};
}

for my $who (sort keys %user) {
	subtest "as $who" => sub {
		my $s = Paddock->new(templates => \%templates, user => $user{$who});
		my $can = eval { $s->init; 1 } or return fail($@);
		for (@missing) {
			my ($id, $key, $asked, $says) = @$_;
			my $r = is_refused($s, $id, "$key is not granted to $id");
			is($r->{error}, $says, "the error says which $key $id lacks, and the line that would grant");
			same_json([@{$r->{details}}{qw(asked key)}], [$asked, $key], "the details say which $key $id lacks");
			like($r->{details}{whoCanGrant}, $key =~ /secrets/ ? qr/^nobody: / : qr/^the operator, by $key in \[grant "$id"\]/,
				"the details say who can grant $key to $id");
			my $v = view($s, $id);
			same_json($v->{available}, JSON::PP::false, "$id is listed as not available");
			is($v->{unavailableReason}, $says, 'for the same reason');
			same_json($v->{permissions}{missing}[0]{asked}, $asked, 'what is missing is listed');
			same_json($v->{permissions}{granted}, $id eq 'tabs' ? {hosts => []} : {}, "$id has no granted permissions");
		}
		succeeds($s, $_, "$_, beside them, runs") for qw(plain quiet);
		ok(!exists view($s, 'plain')->{permissions}, 'who asks for nothing shows nothing');
		$s->stop;
	};
}

# Granted, in each way.
my $tabs_digest;
for my $who (sort keys %user) {
	my $s = Paddock->new(templates => \%templates, user => $user{$who}, idle => 1);
	my %by = (
	    'to each' => join('', map { "[grant \"$_->[0]\"]\n$_->[1] = $_->[2]\n" }
			      [tabs => 'tools', 'create_tab navigate'], [reads => 'read_paths', "$room/data"],
			      [lua_reads => 'read_paths', $room], [locks => 'locks', 'yes']),
	    'to all' => "[grant \"*\"]\ntools = all\nread_paths = $room/data\nlocks = yes\n",
	    'in part to each, in part to all' => "[grant \"*\"]\ntools = navigate\nlocks = yes\n" .
		"[grant \"tabs\"]\ntools = create_tab\n[grant \"lua_reads\"]\nread_paths = $room/data/\n" .
		"[sandbox]\nread_paths = $room/data\n",
	);
	for my $how (sort keys %by) {
		subtest "as $who, granted $how" => sub {
			my $s = Paddock->new(templates => \%templates, user => $user{$who}, config => $by{$how} .
				"[grant \"dials\"]\nnetwork = db.example.org:5432\n[grant \"keys\"]\nsecrets = api.key\n");
			$s->init;
			is(succeeds($s, "reads", "what is granted is read"), "secret", "a grant gives nothing beside what is listed");
			succeeds($s, $_, "$_ runs") for qw(locks lua_reads);
			same_json(view($s, 'reads')->{permissions}, {asked => {readPaths => ["$room/data"]},
				granted => {readPaths => ["$room/data"]}}, 'asked and granted are listed');
			same_json(view($s, 'tabs')->{permissions}{granted}{tools}, ['create_tab', 'navigate'], 'tools, too');
			succeeds($s, 'dials', 'dials runs');
			is_refused($s, 'keys', 'granted or not, keys cannot be had');
			$s->stop;
		};
	}
}

subtest 'a grant of another' => sub {
	my $s = Paddock->new(templates => \%templates, config => "[grant \"tabs\"]\nread_paths = $room/data\n" .
		"[grant \"plain\"]\ntools = all\nlocks = yes\n[grant \"tbas\"]\ntools = all\n")->greeted;
	is_refused($s, $_, "a grant to another template is none of $_") for qw(tabs reads locks);
	ok($s->log_has(qr/grant="tbas" used=no msg="there is no such template"/), 'one of a name that nobody has is told in the log');
	unlike($s->log_text, qr/grant="(?:tabs|plain)"/, 'no other grant is logged as unused');
	$s->stop;
};

# A reload: begun runs go on, later runs are refused.
subtest 'taken back' => sub {
	my $config = "[limits]\nmax_concurrent_runs = 1\n";
	my $grant = "[grant \"waits\"]\nread_paths = $room/data\n";
	my $s = Daemon->new(config => $config . $grant, templates => {%templates, waits => {
		program => "#!/bin/sh\necho '{\"step\":{\"name\":\"a\",\"state\":\"running\"}}' >&3\ncat $room/data/file >o\nwhile [ ! -e $room/other/go ]; do :; done\necho '{\"step\":{\"name\":\"a\",\"state\":\"succeeded\"}}' >&3\necho 7\n",
		# with locks the template has the host's own inodes, and so sees new files
		permissions => {locks => JSON::PP::true, readPaths => ["$room/data", "$room/other"]}}});
	(my $c = $s->client)->init;
	is_refused($c, 'waits', 'not all is granted');
	my $v;
	$s->write_config($config . "[grant \"waits\"]\nlocks = yes\nread_paths = $room/data $room/other\n" .
	    "[grant \"tabs\"]\ntools = create_tab navigate\n");
	is($s->reload, 'done', 'a reload grants locks and paths');
	my ($first, $second) = map { $c->run_async("waits") } 1 .. 2;
	$c->get_until($first, 'to run', sub { $_[0]{progress}{totalSteps} });
	my $lua = $c->run_async('tabs');
	$s->write_config($config);
	is($s->reload, 'done', 'a reload takes the grant back');
	is_refused($c, 'waits', 'what begins then is refused');
	is($c->get($first)->{status}, 'running', 'what had begun goes on');
	write_file("$room/other/go", '');
	$v = $c->ended($first);
	is($v->{status}, 'succeeded', 'to its end') || diag(json_of($v));
	$v = $c->ended($second);
	is($v->{status}, 'failed', 'what waited for its turn has none');
	is($v->{error}{errorCode}, 'PERMISSION_NOT_ALLOWED', 'for that reason');
	same_json($v->{error}{details}{key}, 'read_paths', 'the details of a waiting run\'s failure name read_paths');
	$v = $c->ended($lua);
	is("$v->{status} " . ($v->{error}{errorCode} // ''), 'failed PERMISSION_NOT_ALLOWED',
	   'a waiting run for Lua fails without the grant');
	is($c->run_sync('plain')->{status}, 'succeeded', 'others go on');
	$s->write_config("[grant \"waits\"]\nread_paths = relative\n");
	like($s->reload, qr/^refused.*paddock.conf:2: read_paths/, 'a wrong one changes nothing');
	$s->stop;
	unlink "$room/other/go";
};

# A run which fails before the start delays no run behind.
subtest 'taken back, and others behind' => sub {
	my $config = "[limits]\nmax_concurrent_runs = 1\n";
	my $s = Daemon->new(templates => {%templates, doze => lua('while true do run.sleep(60000) end')},
		config => $config . "[grant \"tabs\"]\ntools = create_tab navigate\n");
	my $c = $s->client->greeted;
	my $first = $c->run_async('doze');
	$c->get_until($first, 'to run', sub { $_->{status} eq 'running' });
	my @taken = map { $c->run_async('tabs') } 1 .. 3;
	my $behind = $c->run_async('plain');
	$s->write_config($config);
	is($s->reload, 'done', 'a reload takes the grant back while runs wait');
	$c->tool(cancel_task_run => {runId => $first});
	is($c->ended($behind)->{status}, 'succeeded', 'who waits behind has its turn');
	is($c->get($_)->{error}{errorCode}, 'PERMISSION_NOT_ALLOWED', 'after those that have none') for @taken;
	$s->stop;
};

subtest 'by digest' => sub {
	my $s = Daemon->new(templates => \%templates, config => "[grant \"locks\"]\nlocks = yes\ndigest = " . '0' x 64 . "\n");
	(my $c = $s->client)->init;
	my $r = is_refused($c, 'locks', 'a grant for another package');
	ok($s->log_has(qr/grant="locks" used=no msg="its digest is no package's/), 'the log tells a grant for another package');
	my ($digest) = $r->{error} =~ /its grant in paddock\.conf is for another package than .* by digest = ([0-9a-f]{64})$/;
	ok($digest, 'says so, and which this is') or return;
	$s->write_config("[grant \"locks\"]\nlocks = yes\ndigest = " . '0' x 64 . " $digest\n");
	$s->reload;
	succeeds($c, 'locks', 'a template runs with a grant for two digests');
	write_file("$s->{root}/templates/locks-1.0.0/more", 'x');
	$r = $c->run_sync('locks');
	is($r->{error}{errorCode}, 'EXECUTION_ERROR', 'a file more in its folder: it does not run');
	$s->reload;
	is_refused($c, 'locks', 'a changed template is refused after the reload');
	unlink "$s->{root}/templates/locks-1.0.0/more";
	$s->reload;
	succeeds($c, 'locks', 'a template runs with the package of before');
	$s->stop;
};

# Shipped templates have grants by their folder, and by nothing which others can forge.
subtest 'what ships' => sub {
	my $from = "$TOP/etc/templates/batch_extract_pages";
	my $s = Paddock->new(idle => 1);
	mkdir "$s->{root}/$_" for qw(copies links here);
	system('cp', '-r', $from, "$s->{root}/copies/batch_extract_pages");
	my $lists = sub {
		my ($dir) = @_;
		my $s = Paddock->new(dirs => [$dir])->greeted;
		my $v = view($s, 'batch_extract_pages')->{permissions};
		$s->stop;
		return $v;
	};
	ok(!$lists->("$TOP/etc/templates")->{missing}, 'the shipped template has a grant');
	same_json($lists->("$TOP/etc/templates")->{granted}{hosts}, ['*'], 'for public hosts');
	ok($lists->("$s->{root}/copies")->{missing}, 'a copy of it in another folder has none');
	symlink $from, "$s->{root}/links/mine";
	ok(!$lists->("$s->{root}/links")->{missing}, 'a link to it is the same package');
	symlink "$TOP/etc/templates", "$s->{root}/here/templates";
	ok(!$lists->("$s->{root}/here/templates")->{missing}, 'a template below a linked folder is the same package');
	symlink "$s->{root}/copies/batch_extract_pages", "$s->{root}/links/mine2";
	unlink "$s->{root}/links/mine";
	ok($lists->("$s->{root}/links")->{missing}, 'a link to the copy is the copy');
};

# A view of grants has the rights which the template requests; hosts have the operator's
# names, for local requestors.
subtest 'who is told' => sub {
	my %token = (near => 'n' x 43, far => 'f' x 43);
	my $s = Http->new(config => "[grant \"tabs\"]\ntools = all\nhosts = intranet.corp 10.0.0.0/8\n" .
		"read_paths = /srv/secret\nsecrets = hidden\n[grant \"*\"]\nread_paths = /srv/other $room/data\n" .
		join('', map { "[requestor \"$_\"]\ntrust_level = " . ($_ eq 'near' ? 'local' : 'remote') .
			       "\ntoken_sha256 = " . sha256_hex($token{$_}) . "\n" } sort keys %token),
		templates => {map { $_ => {%{$templates{$_}}, trustLevelSupport => ['local', 'remote']} } keys %templates});
	$s->{tokens} = \%token;
	my %seen = map { $_ => view($s->client($_)->greeted, 'tabs')->{permissions} } keys %token;
	same_json($seen{near}, {asked => {tools => ['create_tab', 'navigate']},
		granted => {tools => ['create_tab', 'navigate'], hosts => ['intranet.corp', '10.0.0.0/8']}}, 'at local: the hosts, too');
	same_json($seen{far}, {asked => {tools => ['create_tab', 'navigate']},
		granted => {tools => ['create_tab', 'navigate']}}, 'at remote: what was asked for');
	my $all = json_of($s->client('far')->greeted->tool('list_task_templates')->{view});
	unlike($all, qr/$_/, "nothing of $_") for qw(intranet 10\.0\.0\.0 srv/secret srv/other hidden);
	$s->stop;
};

# ---- the command ----

subtest 'the command' => sub {
	my $cli = Cli->new(templates => \%templates);
	my $at = "$cli->{root}/templates";
	my $do = sub { return $cli->run([@_], env => {XDG_CONFIG_HOME => "$cli->{root}/config"}) };
	my $r = $do->('template', 'grant', "$at/tabs-1.0.0");

	is($r->{status}, 0, 'template grant');
	my ($digest) = $r->{out} =~ /^digest = ([0-9a-f]{64})$/m;
	is($r->{out}, "# tabs 1.0.0, as it is in $at/tabs-1.0.0\n[grant \"tabs\"]\ndigest = $digest\n" .
	   "tools = create_tab\n\tnavigate\n" .
	   "# what the browser may open for it: names, *.names, addresses; * is any public host\nhosts =\n",
	   'prints a section');
	write_file("$cli->{root}/paddock.conf", $r->{out} =~ s/hosts =/hosts = example.org/r);
	my @own = ('--config', "$cli->{root}/paddock.conf", '--templates', $at, '--state-dir', "$cli->{root}/state");
	$r = $do->('template', 'show', 'tabs', @own);
	like($r->{out}, qr/\nAsks for:\n  tools +create_tab\n  tools +navigate\n  hosts +example\.org\n\z/,
	     'the printed section grants what the template asks for');
	write_file("$at/tabs-1.0.0/more", 'x');
	$r = $do->('template', 'show', 'tabs', @own);
	like($r->{out}, qr/tools +create_tab, not granted\n.*\n\[grant "tabs"\]\ndigest = (?!$digest)[0-9a-f]{64}\ntools = /s,
	     'to that package alone');
	$r = $do->('template', 'show', 'dials', @own);
	like($r->{out}, qr/network +db\.example\.org:5432, not granted\n.*\nnetwork = db\.example\.org:5432\n/s, 'what the network of a Lua template needs');

	$r = $do->('template', 'check', "$at/reads-1.0.0");
	is($r->{status}, 0, 'template check: a package that is not granted what it asks for is good');
	like($r->{out}, qr{^reads 1\.0\.0 is good\n.*readPaths +$room/data, not granted\n.*\[grant "reads"\]\nread_paths = $room/data\n\z}s,
	     'template check says what is missing and what would grant it');
	$r = $do->('template', 'check', "$at/reads-1.0.0", '--json');
	same_json(json_to($r->{out})->{grants}[0]{permissions}{missing}, [{key => 'read_paths', asked => ["$room/data"]}],
		  'in JSON, too');
	is($do->('template', 'check', "$at/plain-1.0.0")->{out}, "plain 1.0.0 is good\n", 'who asks for nothing has no more to say');
	$r = $do->('template', 'grant', "$TOP/etc/templates/text_diff");
	is("$r->{status}$r->{out}", '0', 'of a package that asks for nothing there is no section');
	like($r->{err}, qr/text_diff 1\.0\.0 asks for nothing, so it needs no grant/, 'template grant says that nothing is asked for');
	$r = $do->('template', 'grant', "$cli->{root}/nowhere");
	is($r->{status}, 4, 'no folder');
	like($r->{err}, qr{nowhere: No such file or directory\n\z}, 'template grant of a missing folder says so');

	my @private = ('--templates', $at, '--state-dir', "$cli->{root}/state");
	$r = $do->('run', 'reads', @private);
	is($r->{status}, 125, 'run: what is not granted is refused');
	like($r->{err}, qr{asks to read $room/data, which is not granted; the operator can grant it, by read_paths = $room/data in \[grant "reads"\]}, 'the refusal of a run has the line that would grant');
	like($r->{err}, qr{hint: for one run, on a server of your own: --grant "read_paths=$room/data"}, 'the refusal of a run names --grant');
	unlike($do->('run', 'keys', @private)->{err}, qr/--grant|operator/, 'the refusal of what nobody can grant names no grant');
	like($do->('run', 'flies', @private)->{err}, qr/^paddock: flies asks for the tool fly, which there is not in this version of paddock; its author/,
	     'a tool that there is not is nobody\'s to grant');
	like($do->('template', 'grant', "$at/flies-1.0.0")->{out}, qr/^# tools: there is no tool fly\ntools = create_tab\n# what/m,
	     'a tool that does not exist is in no printed line');
	write_file("$cli->{root}/wrong/template.json", '{"templateId": "wrong", "version": "1.0.0", "name": "w", "description": "w", ' .
		   '"runtime": {"type": "lua"}, "inputsSchema": {"type": "object"}, "permissions": {"readPaths": ["/a/../b"]}}');
	like($do->('template', 'check', "$cli->{root}/wrong")->{err}, qr{/wrong/template\.json:1:\d+: error: "/a/\.\./b" is not a plain absolute path, such as /srv/data: .*\(/permissions/readPaths/0\)},
	     'a package by its folder\'s own path, with what would pass');
	unlike($do->('run', 'odd', @private)->{err}, qr/--grant/, 'a path with letters that a shell takes is in no hint');
	$r = $do->('run', 'reads', '--grant', "read_paths=$room/data", @private);
	is("$r->{status} $r->{out}", "0 \"secret\"\n", '--grant grants it to the template that is run');
	$r = $do->('run', 'reads', '--grant', "reads:read_paths=$room/data", @private);
	is($r->{status}, 0, '--grant may name the template');
	for my $other ('tools=all', 'reads:locks=yes') {
		$r = $do->('run', 'locks', '--grant', $other, @private);
		is($r->{status}, 125, "--grant $other does not grant locks to another");
	}
	for my $wrong ('read_paths', 'x=y', 'tools=drive', 'locks=1') {
		$r = $do->('run', 'reads', '--grant', $wrong, @private);
		is($r->{status}, 2, "--grant $wrong");
		like($r->{err}, qr/--grant .*expected/, 'says what would pass');
	}
	$r = $do->('run', 'reads', '--grant', 'locks=yes', '--socket', "$cli->{root}/sock");
	is($r->{status}, 2, 'a daemon takes none of it');
	like($r->{err}, qr/--grant is for a private server/, 'a daemon\'s client is told that --grant is for a private server');

	my $said = `$BUILD/paddockd --check --templates $at --grant raeds:locks=yes --grant locks:locks=yes 2>&1 >/dev/null`;
	like($said, qr/^paddockd: \[grant "raeds"\] is not used: there is no such template\n\z/m, '--check tells of a grant that nobody has, and of no other');

	$r = $do->('doctor', @private);
	like($r->{out}, qr/^missing +a grant for $_: .*paddock template show $_ /m, "doctor names $_")
	    for qw(tabs reads dials keys locks lua_reads);
	unlike($r->{out}, qr/a grant for (?:plain|quiet)/, 'doctor names no template with all grants');
	$r = $do->('doctor', '--json', @own);
	ok(!(grep { $_->{templateId} eq 'plain' } @{json_to($r->{out})->{notGranted}}), 'in JSON, too');
};

# Text of a hostile package never looks like lines to copy.
subtest 'hostile names' => sub {
	my $cli = Cli->new(templates => {});
	my $m = {templateId => 'evil', version => '1.0.0', name => 'e', description => 'd',
		 runtime => {type => 'lua', entry => 'main.lua'}, inputsSchema => {type => 'object'},
		 permissions => {readPaths => ["/a\x{202e}b", '/c d', '/e;f', '/g#h', '/i"j'], secrets => ['ok']}};

	write_file("$cli->{root}/templates/evil/template.json", json_of($m));
	write_file("$cli->{root}/templates/evil/main.lua", 'return function() end');
	my $r = $cli->run(['template', 'grant', "$cli->{root}/templates/evil"]);
	like($r->{out}, qr/^# read_paths: "\Q$_\E" cannot be written here, but a folder above it can$/m, "$_ is a remark")
	    for '/c d', '/e;f', '/g#h', '/i"j';
	unlike($r->{out}, qr/^[^#].*\/a/m, 'a path that turns the writing direction is no line');
	like($r->{out}, qr/^# secrets = ok: no Lua template can have secrets/m, 'a permission that no template can have is a remark');
};

done_testing();
