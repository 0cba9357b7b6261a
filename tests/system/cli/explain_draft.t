#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# "paddock explain" drafts a grant: for a run beyond a limit, and for a run without the grant of
# a tool or a template. A configuration with the draft lets the run pass, and a draft without
# the line of a limit does not.
use lib 'tests/lib';
use Paddock;
use Cli;

my $memory = 'local t = {} for i = 1, 300000 do t[i] = {i} end return #t';
my %templates = (
    fat => lua($memory, limits => {maxMemoryBytes => 6 << 20}),
    called => lua('return 1', annotations => {readOnlyHint => Paddock::true}),
    calls => lua('local ok = pcall(run.template, "called", {}) return ok'),
    tabs => lua('local ok = pcall(run.call, "create_tab", {url = "about:blank"}) return ok'),
    fine => lua('return 1'),
);
my $cli = Cli->new(templates => \%templates);

# Run TEMPLATE to the end, and draft a grant.
sub drafted {
	my ($template, $config) = @_;
	my @more = $config ? ('--config', $config) : ();
	my $view = json_to($cli->run_private(['run', '--json', $template, @more])->{out});
	my $r = $cli->run_private(['explain', '--json', $view->{runId}, @more]);

	return ($view, json_to($r->{out})->{draft}, $view->{runId});
}

my ($view, $draft, $run) = drafted('fat');
my $digest = digest_of("$cli->{root}/templates/fat-1.0.0");
is($view->{error}{errorCode}, 'RESOURCE_LIMIT', 'a run without memory ends');
is($draft->{section}, qq([template "fat"]\ndigest = $digest\nmax_memory_bytes = 12582912\n),
   'the draft of a run without memory has the limit, raised, for the package');
same_json($draft->{lines}, [{key => 'max_memory_bytes', word => '12582912', new => Paddock::true,
			     text => 'fat asks for 12 MiB of memory'}], 'a draft has a line for people');
my $text = $cli->run_private(['explain', $run])->{out};
like($text, qr/^A draft of what the operator could grant, in paddock\.conf:\n\[template "fat"\]\ndigest = $digest\nmax_memory_bytes = 12582912\n\z/m,
     'explain prints the draft for paddock.conf');

SKIP: {
	skip 'with-postgres has the configuration', 3 if on_postgres();
	write_file("$cli->{root}/draft.conf", $draft->{section});
	($view) = drafted('fat', "$cli->{root}/draft.conf");
	# memory is doubled until it is enough
	for (1 .. 6) {
		last if $view->{status} eq 'succeeded';
		my ($n) = $draft->{section} =~ /bytes = (\d+)/;
		my $more = 2 * $n;
		$draft->{section} =~ s/bytes = \d+/bytes = $more/;
		write_file("$cli->{root}/draft.conf", $draft->{section});
		($view) = drafted('fat', "$cli->{root}/draft.conf");
	}
	is($view->{status}, 'succeeded', 'a run passes with the draft as configuration');
	write_file("$cli->{root}/draft.conf", $draft->{section} =~ s/^max.*\n//mr);
	($view) = drafted('fat', "$cli->{root}/draft.conf");
	is($view->{status}, 'failed', 'a run fails with a draft without the line of the limit');
	write_file("$cli->{root}/draft.conf", $draft->{section} =~ s/^digest = .{4}/digest = 0000/mr);
	($view) = drafted('fat', "$cli->{root}/draft.conf");
	is($view->{status}, 'failed', 'a run fails with a draft for another package');
}

for (['calls', {permissions => {templates => ['called']}}, 'templates = called'],
     ['tabs', {tools => ['create_tab']}, 'tools = create_tab']) {
	my ($template, $manifest, $line) = @$_;

	($view, $draft, $run) = drafted($template);
	is($view->{status}, 'succeeded', "$template catches the refusal");
	same_json($draft->{manifest}, $manifest, 'the draft has the words for the manifest');
	like($draft->{section}, qr/^\Q$line\E$/m, 'the draft has the line that would grant the call');
	like($cli->run_private(['explain', $run])->{out}, qr/have template\.json ask for it: \{.*template grant/s,
	     'explain names the manifest first, since a changed manifest is another package');
}
(undef, $draft) = drafted('fine');
is($draft, undef, 'a run that lacked nothing has no draft');

ok(strays_gone(), 'no process is left');
done_testing();
