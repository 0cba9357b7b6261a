#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The items of a tool's answer after the first, in every revision and every way of calling:
# links to the run's artifacts, the failed steps of a partial success, and a note about a
# run which ends with the client. Every answer must satisfy the tool's outputSchema.
use lib 'tests/lib';
use Paddock;
use Daemon;
use Http;
use Task;

my %object = (type => 'object');
my %number = (%object, properties => {n => {'$ref' => '#/$defs/n'}}, required => ['n'],
	      '$defs' => {n => {type => 'integer'}}, additionalProperties => false);
my $two = 'run.artifact{name = "a.csv", mimeType = "text/csv", data = "1,2"} ' .
    'run.artifact{name = "b.bin", mimeType = "application/octet-stream", data = "\255"} ';
my %templates = (
	leaves => lua("$two return {n = 2}", outputsSchema => \%number),
	plain => lua("$two return 7"),
	half => lua("$two run.map({1, 0, 1, 1}, {step = 's'}, function(v) " .
		    'if v == 0 then run.error("NO_LUCK", "bad day") end end) return {n = 3}',
		    outputsSchema => \%number, supportsPartialSuccess => true),
	many => lua('run.map((function() local t = {} for i = 1, 30 do t[i] = i end return t end)(), ' .
		    '{step = "s"}, function(i) if i > 15 then error("no") end end) return {n = 1}',
		    supportsPartialSuccess => true, executionMode => 'sync'),
	fails => lua("$two run.error('NO_LUCK', 'bad day')", outputsSchema => \%number),
	speaks => lua("$two return run.reply{content = {{type = 'text', text = 'hello'}}}",
		      outputsSchema => \%number),
	gives => lua("$two return run.reply{structuredContent = {n = 4}}",
		     outputsSchema => \%number),
	objects => lua("$two return run.reply{isError = true, content = {{type = 'text', " .
		       "text = 'no'}}, structuredContent = {n = 'none'}}", outputsSchema => \%number),
	links => lua('local id = run.artifact{name = "own", mimeType = "text/plain", data = "x"} ' .
		     'return run.reply{content = {{type = "resource_link", name = "mine", uri = ' .
		     '"paddock://runs/" .. run.id .. "/artifacts/" .. id}}}'),
	hundreds => lua('for i = 1, 120 do run.artifact{name = "f" .. i, mimeType = "text/plain", ' .
			'data = "x"} end return {n = 120}', outputsSchema => \%number,
			executionMode => 'sync'),
	later => lua("$two return {n = 5}", executionMode => 'async', outputsSchema => \%number),
	slow => lua('run.sleep(60000)', outputsSchema => \%number),
	tree => lua('return {n = {n = {}}}', outputsSchema =>
	    {%object, properties => {n => {'$ref' => '#'}}, additionalProperties => false}),
);

my $s = Paddock->new(templates => \%templates, config => {inline_wait_ms => 3000});
my %tool; # of the session's revision

sub tools {
	my ($s) = @_;

	%tool = map { $_->{name} => $_ } @{$s->call('tools/list')->{result}{tools}};
}

sub links { return grep { $_->{type} eq 'resource_link' } @{$_[0]{content}} }
sub texts { return join "\n", map { $_->{text} } grep { $_->{type} eq 'text' } @{$_[0]{content}} }
sub after_first { my (undef, @more) = @{$_[0]{content}}; return {content => \@more} }

# Checked as the official clients do: an error may lack structuredContent, and a present
# structuredContent is checked.
sub fits {
	my ($name, $r, $what) = @_;
	my $schema = $tool{$name}{outputSchema};
	my $value = $r->{structuredContent};
	my @wrong = !$schema ? ()
	    : defined $value ? schema_errors(resolved($schema), $value)
	    : $r->{isError} ? () : 'structuredContent is missing';

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is("@wrong", '', "$what: fits the outputSchema of $name");
}

# The judge of Paddock.pm knows no $ref: "#/…" is put in place.
sub resolved {
	my ($v, $root, $deep) = @_;

	$root //= $v;
	return [map { resolved($_, $root, $deep) } @$v] if ref $v eq 'ARRAY';
	return $v if ref $v ne 'HASH';
	if (my $ref = $v->{'$ref'}) {
		my $at = $root;

		return {} if ($deep // 0) > 3;
		$at = ref $at eq 'ARRAY' ? $at->[$_] : $at->{$_}
		    for grep { length } split m{/}, substr $ref, 1;
		die "$ref leads nowhere\n" unless ref $at;
		return resolved($at, $root, ($deep // 0) + 1);
	}
	return {map { $_ => resolved($v->{$_}, $root, $deep) } keys %$v};
}

# Every way in which S's session can have TEMPLATE run: name => the answer.
sub ways {
	my ($s, $revision, $template) = @_;
	my %way = ($template => $s->tool($template, {}),
		   'run_task_template, sync' => $s->run($template, {}, mode => 'sync'));
	my $again = {mode => 'sync', idempotencyKey => "$revision $template"};

	$s->run($template, {}, %$again);
	$way{'run_task_template, again'} = $s->run($template, {}, %$again);
	my $run = $s->run_async($template);
	$s->ended($run);
	$way{get_task_run} = $s->tool(get_task_run => {runId => $run});
	return %way unless $revision eq '2025-11-25';
	my $id = start_task($s, $template);
	$way{"$template, tasks/result"} = $s->call('tasks/result', {taskId => $id})->{result};
	task_over($s, $id);
	$way{"$template, tasks/result later"} = $s->call('tasks/result', {taskId => $id})->{result};
	$id = start_task($s, 'run_task_template', {templateId => $template, inputs => {}});
	$way{'run_task_template, tasks/result'} = $s->call('tasks/result', {taskId => $id})->{result};
	return %way;
}

# ---- in every revision ----

for my $revision (qw(2024-11-05 2025-03-26 2025-06-18 2025-11-25)) {
	my $links = $revision ge '2025-06-18';
	my $s = Paddock->new(templates => \%templates, config => {inline_wait_ms => 5000});

	$s->init($revision);
	tools($s);
	for my $template (qw(leaves plain half fails speaks gives objects)) {
		my %way = ways($s, $revision, $template);

		for my $name (sort keys %way) {
			my $r = $way{$name};
			my ($called) = $name =~ /^(\w+)/;
			my $what = "$revision, $template by $name";

			fits($called, $r, $what);
			is(join(' ', map { "$_->{name} $_->{mimeType} $_->{size}" } links($r)),
			   $links ? 'a.csv text/csv 3 b.bin application/octet-stream 1' : '',
			   "$what: " . ($links ? 'has links' : 'no links, which it does not know'));
			like(texts(after_first($r)), qr{a\.csv \(text/csv, 3 bytes\): paddock://runs/run_\w+/artifacts/art_\w+\n.*b\.bin},
			     "$what: but a text that names them") unless $links;
			isnt($r->{content}[0]{type}, 'resource_link', "$what: they come after what it gives");
			if ($template eq 'half') {
				like(texts(after_first($r)), qr/partial success: 1 of 4 steps failed.*\n- s\[2\]: NO_LUCK: bad day/,
				     "$what: which steps failed, of how many");
			} else {
				unlike(texts(after_first($r)), qr/partial success/, "$what: is no partial success");
			}
		}
		my $own = $way{$template};

		same_json(Paddock::json_to_text($own->{content}[0]{text}),
			  {leaves => {n => 2}, half => {n => 3}, gives => {n => 4}, plain => 7}->{$template},
			  "$revision: the first item of $template is its output, as ever")
		    if $template =~ /^(leaves|half|gives|plain)$/;
	}
	$s->stop("$revision: ends cleanly");
}

# ---- links that lead somewhere ----

like($s->init->{instructions}, qr/ends with .*its runs.*paddockd/, 'over stdio the instructions say whose end is whose');
tools($s);
{
	my $r = $s->tool('leaves');
	my @read = map { $s->call('resources/read', {uri => $_->{uri}})->{result}{contents}[0] } links($r);

	is($read[0]{text}, '1,2', 'a link is read as a resource');
	is($read[1]{blob}, '/w==', '  a link to bytes is read as a blob');
	$r = $s->tool('links');
	is(join(' ', map { $_->{name} } links($r)), 'mine', 'what a reply links to itself is not told twice');
	$r = $s->tool('hundreds');
	is(scalar(links($r)), 100, 'of many artifacts a hundred are linked to');
	like(texts($r), qr/20 more artifacts .* get_task_run, with the runId run_\w+/, '  the answer says where the remaining artifacts are');
	$r = $s->tool('many');
	like(texts($r), qr/15 of 30 steps failed.*\n- s\[16\].*\n- and 5 more$/s, 'many failed steps are counted, and ten named');
}

# ---- handles, errors, and every tool that has a schema ----

{
	my $over_stdio = qr/over stdio.*ends with it.*start the daemon, paddockd, .*socket or URL/s;
	my %handle = (
	    later => $s->tool('later'),
	    slow => $s->tool('slow'), # auto, and longer than inline_wait_ms
	    run_task_template => $s->run('leaves', {}, mode => 'async'),
	);

	for my $name (sort keys %handle) {
		my $r = $handle{$name};

		fits($name, $r, 'a handle');
		is($r->{structuredContent}{mode}, 'async', "$name: a handle");
		like(texts(after_first($r)), $over_stdio, '  over stdio its run ends with the client, and what to do is said');
	}
	like(task_call($s, 'later')->{result}{_meta}{'io.modelcontextprotocol/model-immediate-response'},
	     $over_stdio, 'a task is told so as well');

	my $id = $s->ended($handle{run_task_template}{structuredContent}{runId})->{runId};
	my $art = $s->get($id)->{artifacts}[0]{artifactId};
	my %answer = (
	    list_task_templates => [{}, {templateId => 'leaves'}, {templateId => 'none'}],
	    list_task_runs => [{}, {status => 'failed'}],
	    get_task_run => [{runId => $id}, {runId => $handle{slow}{structuredContent}{runId}}, {runId => 'none'}],
	    cancel_task_run => [{runId => $id}, {runId => 'none'}],
	    get_artifact => [{artifactId => $art}, {artifactId => $art, offset => 1, limit => 1}, {artifactId => 'none'}],
	    get_runtime_profile => [{}, {none => 1}],
	    tree => [{}], later => [{}], fails => [{}], objects => [{}],
	);
	for my $name (sort keys %answer) {
		fits($name, $s->tool($name, $_), json_of($_)) for @{$answer{$name}};
	}
	$s->tool(cancel_task_run => {runId => $handle{slow}{structuredContent}{runId}});
	is(join(' ', grep { !$tool{$_}{outputSchema} } sort keys %tool), 'links many plain',
	   'all tools whose answer has a known shape have an outputSchema');
	is($tool{tree}{outputSchema}{anyOf}[0]{properties}{n}{'$ref'}, '#/anyOf/0',
	   'what refers to its root refers to where that went');
}
$s->stop;

# ---- the daemon outlives its clients ----

{
	my $d = Http->new(templates => {later => $templates{later}});
	my $http = $d->client;

	unlike($http->init->{instructions}, qr/ends with/, 'the instructions of a daemon have nothing of that');
	my $unix = Daemon::client($d)->greeted;

	for ([HTTP => $http], [socket => $unix]) {
		my ($way, $c) = @$_;
		my $r = $c->tool('later');

		is($r->{structuredContent}{mode}, 'async', "$way: a handle");
		is(scalar @{$r->{content}}, 1, '  nothing more is said');
		my $view = $c->ended($r->{structuredContent}{runId});
		my $got = $c->tool(get_task_run => {runId => $view->{runId}});

		is(scalar(links($got)), 2, "$way: get_task_run has the links of the run");
	}
	$unix->hang_up;
	$d->stop;
}

done_testing;
