#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Proposed grants: the tool propose_grant, off without the operator's consent; two requestors;
# bounds; hostile words; and "paddock grant": approval for one package, by the operator alone,
# in a file of its own, which a changed package, a link, a full disk or a refused
# configuration prevents.
use lib 'tests/lib';
use Paddock;
use Http;
use Cli;

my %templates = (
    tabs => lua('return 1', tools => ['create_tab', 'navigate']),
    reads => lua('return 1', tools => ['click']),
    plain => lua('return 1'),
);
my %token = (ada => 'a' x 43, bob => 'b' x 43);
my $cli = Cli->new;

{
	my $s = Http->new(templates => \%templates, tokens => \%token);
	my $ada = $s->client('ada')->greeted;

	ok(!(grep { $_->{name} eq 'propose_grant' } @{$ada->call('tools/list')->{result}{tools}}), 'a server lists no propose_grant unless the operator wants proposals');
	is($ada->tool(propose_grant => {templateId => 'tabs', reason => 'r'})->{view}{errorCode}, 'CALL_NOT_ALLOWED', 'a server without proposals refuses propose_grant');
	$s->stop;
}

my $s = Http->new(templates => \%templates, tokens => \%token, config => "[server]\nproposals = yes\naudit_file = /dev/fd/2\n");
my ($ada, $bob) = map { $s->client($_)->greeted } qw(ada bob);
my $dir = "$s->{root}/grants.d";

sub propose { my ($c, $template, %o) = @_; return $c->tool(propose_grant => {templateId => $template, reason => 'needed', %o})->{view} }
sub grant { my ($command, @args) = @_; return $cli->run(['grant', $command, @args, '--socket', $s->{socket}]) }
sub waiting { return @{json_to(grant('ls', '--json')->{out})} }
sub digest { return digest_of("$s->{root}/templates/$_[0]-1.0.0") }
sub reject_all { grant('reject', $_->{proposalId}) for waiting() }

ok((grep { $_->{name} eq 'propose_grant' } @{$ada->call('tools/list')->{result}{tools}}), 'a server with proposals lists propose_grant');

# ---- a proposal, and the decision ----
is($ada->run_sync('tabs')->{errorCode}, 'PERMISSION_NOT_ALLOWED', 'a template without grant is refused');
my $one = propose($ada, 'tabs', hosts => ['site.example'], reason => "I need\n[grant \"*\"]\ntools = all\e[2J");
like($one->{proposalId}, qr/^prp_[0-9a-f]{24}\z/, 'a proposal has an id');
is($one->{digest}, digest('tabs'), 'a proposal is for one package');
same_json([map { $_->{text} } @{$one->{lines}}], ['tabs asks for the tool create_tab', 'tabs asks for the tool navigate', 'tabs asks that the browser opens site.example'], 'a proposal has a line in plain words for each permission');
is(propose($ada, 'tabs', hosts => ['site.example'])->{proposalId}, $one->{proposalId}, 'the same proposal twice is one');
is($ada->run_sync('tabs')->{errorCode}, 'PERMISSION_NOT_ALLOWED', 'a proposal grants nothing');
isnt(propose($bob, 'tabs', hosts => ['site.example'])->{proposalId}, $one->{proposalId}, 'the same proposal of another requestor is another');
is(scalar(waiting()), 2, 'the operator sees the proposals of all requestors');
my $own = $bob->call('paddock/proposals', {})->{result}{proposals};
same_json([map { $_->{requestor} } @$own], ['bob'], 'a requestor sees own proposals alone');
my $foreign = $bob->call('paddock/proposals', {proposalId => $one->{proposalId}})->{error};
my $unknown = $bob->call('paddock/proposals', {proposalId => 'prp_' . 'a' x 24})->{error};
is($foreign->{message} =~ s/prp_\w+//r, $unknown->{message} =~ s/prp_\w+//r, 'a proposal of another requestor answers like an unknown one');
like($bob->call('paddock/decide', {proposalId => $own->[0]{proposalId}, approve => Paddock::true})->{error}{message}, qr/^proposals are decided on by root and the user/, 'a requestor cannot approve');
ok(!exists $own->[0]{grantsDir}, 'a requestor does not learn the folder of approved grants');

my $shown = grant('show', $one->{proposalId})->{out};
like($shown, qr/^Its reason, in the requestor's words: "I need \[grant "\*"\] tools = all\?\[2J"$/m, 'the reason is shown on one line, as words of the requestor');
unlike($shown, qr/\e/, 'a reason cannot act on a terminal');
unlike($shown, qr/^\[grant "\*"\]/m, 'a reason begins no section');
like($shown, qr/^  \* tabs asks for the tool create_tab$/m, 'new permissions are marked');
like($shown, qr/^\[grant "tabs"\]\ndigest = \Q@{[digest('tabs')]}\E\ntools = create_tab\n\tnavigate\nhosts = site\.example\n\z/m, 'the section is shown');
like(grant('ls')->{out}, qr/^PROPOSAL .*\n\S+ +ada +tabs +waiting .*I need \[grant/m, 'the list has a line for each proposal');
is(grant('show', 'prp_' . 'a' x 24)->{status}, 4, 'an unknown proposal is absent');
is(grant('approve', 'prp_' . 'a' x 24)->{status}, 4, 'an unknown proposal cannot be approved');

my $r = grant('approve', $one->{proposalId});
is($r->{status}, 0, 'the operator approves') or diag($r->{err});
my $file = "$dir/tabs.$one->{proposalId}.conf";
is(read_file($file), qq([grant "tabs"]\ndigest = @{[digest('tabs')]}\ntools = create_tab\n\tnavigate\nhosts = site.example\n), 'an approved grant has a file of its own');
is((stat $file)[2] & 07777, 0644, 'the file is for its owner to write');
isnt($ada->run_sync('tabs')->{errorCode} // '', 'PERMISSION_NOT_ALLOWED', 'an approved grant is in force without a restart');
same_json([map { $_->{state} } grep { $_->{proposalId} eq $one->{proposalId} } waiting()], ['approved'], 'an approved proposal is listed as approved');
$r = grant('approve', $one->{proposalId});
is($r->{status}, 0, 'an approved proposal can be approved again, such as on another machine');
like($r->{err}, qr/all of it is granted already/, 'a proposal that is granted already makes no file');
like(grant('show', $one->{proposalId})->{out}, qr/^    tabs asks for the tool create_tab$/m, 'permissions that are granted today are not marked as new');
reject_all();
is(scalar(waiting()), 0, 'rejected proposals are gone');
is(propose($ada, 'tabs')->{errorCode}, 'INVALID_PARAMETER', 'nothing can be proposed for a template that lacks nothing');
unlink $file;
is($s->reload, 'done', 'the server reloads');
is($ada->run_sync('tabs')->{errorCode}, 'PERMISSION_NOT_ALLOWED', 'without the file the grant is withdrawn');

# ---- refused proposals ----
for (['an unknown template', templateId => 'none'], ['a host with a line break', hosts => ["a.example\nhosts = *"]],
     ['a host with a section', hosts => ["a\n[grant \"*\"]"]], ['a host with an escape', hosts => ["a\e[2J"]],
     ['a host with a blank', hosts => ['a b']], ['a remark', hosts => ['a#b']], ['an unknown limit', limits => {maxLies => 5}],
     ['a limit below the least', limits => {maxMemoryBytes => 5}], ['a long reason', reason => 'x' x 501],
     ['an empty reason', reason => ''], ['many hosts', hosts => [map { "h$_.example" } 1 .. 17]],
     ['another member', digest => 'x'], ['a NUL', hosts => ["a\0b"]]) {
	my ($what, @o) = @$_;

	like(propose($ada, 'tabs', @o)->{errorCode} // '', qr/^(?:INVALID_PARAMETER|TEMPLATE_NOT_FOUND)\z/, "$what is refused in a proposal");
}
is(propose($ada, 'plain')->{errorCode}, 'INVALID_PARAMETER', 'nothing can be proposed for a template that asks for nothing');
is(scalar(waiting()), 0, 'refused proposals leave nothing');

# ---- bounds ----
my @all = map { propose($ada, 'tabs', hosts => ["h$_.example"]) } 1 .. 9;
is(scalar(grep { $_->{proposalId} } @all), 8, 'a requestor has a bounded number of proposals');
is($all[8]{errorCode}, 'QUOTA_EXCEEDED', 'one proposal more is refused');
is(propose($ada, 'tabs', hosts => ['h1.example'])->{proposalId}, $all[0]{proposalId}, 'a known proposal is taken though no room is left');
ok(propose($bob, 'tabs')->{proposalId}, 'another requestor has room');
reject_all();

# ---- a remote client learns no grant by asking ----
{
	my %want = (templateId => 'tabs', grant => {hosts => ['granted.example', 'other.example'], templates => ['plain']});

	$s->put_config($s->{config} . "[grant \"tabs\"]\nhosts = granted.example\ntemplates = plain\n");
	is($s->reload, 'done', 'the operator grants a host');
	my $remote = $ada->call('paddock/draft', \%want)->{result};
	my $local = $s->Daemon::client->greeted->call('paddock/draft', \%want)->{result};
	like($remote->{section}, qr/^templates = plain\n.*^hosts = granted\.example\n\tother\.example$/ms, 'a remote client does not learn which hosts and templates are granted');
	like($local->{section}, qr/^hosts = other\.example$/m, 'a local client does');
	$s->put_config($s->{config});
	is($s->reload, 'done', 'the grant is withdrawn');
}

# ---- limits, and what prevents an approval ----
my $more = propose($ada, 'plain', limits => {maxMemoryBytes => 8 << 20});
like(grant('show', $more->{proposalId})->{out}, qr/^  \* plain asks for 8 MiB of memory$/m, 'a limit is proposed in plain words');
is(grant('approve', $more->{proposalId})->{status}, 0, 'a limit is approved');
is($ada->tool(list_task_templates => {templateId => 'plain'})->{view}{templates}[0]{effectiveLimits}{maxMemoryBytes}{allowed}, 8 << 20, 'an approved limit holds');

my $p = propose($ada, 'tabs');
for (['a folder that others may write to', sub { chmod 0777, $dir }, sub { chmod 0755, $dir }, qr/others may write/],
     ['a link as folder', sub { rename $dir, "$dir.real"; symlink "$dir.real", $dir }, sub { unlink $dir; rename "$dir.real", $dir }, qr/grants\.d: /],
     ['a file as folder', sub { rename $dir, "$dir.real"; write_file($dir, '') }, sub { unlink $dir; rename "$dir.real", $dir }, qr/grants\.d: /]) {
	my ($what, $do, $undo, $why) = @$_;

	$do->();
	$r = grant('approve', $p->{proposalId});
	is($r->{status}, 125, "$what prevents an approval");
	like($r->{err}, $why, "$what is named");
	$undo->();
}
same_json([map { $_->{state} } waiting()], ['approved', 'waiting'], 'a prevented approval leaves the proposal waiting');

# links in the folder lead nowhere
write_file("$s->{root}/victim", 'as it was');
symlink "$s->{root}/victim", "$dir/.tabs.$p->{proposalId}.conf.part";
symlink "$s->{root}/victim", "$dir/tabs.$p->{proposalId}.conf";
is(grant('approve', $p->{proposalId})->{status}, 0, 'an approval replaces links in the folder');
is(read_file("$s->{root}/victim"), 'as it was', 'no file is written through a link');
ok(!-l "$dir/tabs.$p->{proposalId}.conf", 'the file of the grant is no link');
unlink "$dir/tabs.$p->{proposalId}.conf";
reject_all();

# a configuration that is refused takes the grant back
$p = propose($ada, 'reads');
my $config = read_file("$s->{root}/paddock.conf");
write_file("$s->{root}/paddock.conf", "$config\n[limits]\nmax_queued_runs = many\n");
$r = grant('approve', $p->{proposalId});
is($r->{status}, 125, 'a refused configuration prevents an approval');
ok(!-e "$dir/reads.$p->{proposalId}.conf", 'the file of a prevented approval is removed again');
write_file("$s->{root}/paddock.conf", $config);
reject_all();

# a full disk: no more bytes can be written
$p = propose($ada, 'reads');
$cli->run(['grant', 'approve', $p->{proposalId}, '--socket', $s->{socket}], within => ['prlimit', '--fsize=10', '--core=0']);
ok(!-e "$dir/reads.$p->{proposalId}.conf", 'an approval that cannot be written whole makes no file');
same_json([map { $_->{state} } waiting()], ['waiting'], 'an approval that cannot be written leaves the proposal waiting');
is(grant('approve', $p->{proposalId})->{status}, 0, 'an approval replaces the rest of an earlier one');
unlink "$dir/reads.$p->{proposalId}.conf";
$s->reload;
reject_all();

# a changed package
$p = propose($ada, 'reads');
write_file("$s->{root}/templates/reads-1.0.0/main.lua", 'return function() return 2 end');
$s->reload;
like(grant('show', $p->{proposalId})->{out}, qr/changed.*only be rejected/s, 'a changed package is told');
$r = grant('approve', $p->{proposalId});
is($r->{status}, 125, 'a proposal for a changed package cannot be approved');
ok(!-e "$dir/reads.$p->{proposalId}.conf", 'a proposal for a changed package makes no file');
like($bob->call('paddock/decide', {proposalId => $p->{proposalId}, approve => Paddock::true})->{error}{message}, qr/root/, 'only operators learn of that');
reject_all();

# the audit
my @audit = map { json_to($_) } grep { /"event":"grant_/ } split /\n/, $s->log_text;
my %by; $by{$_->{event}}++ for @audit;
ok($by{grant_proposed} > 10 && $by{grant_approved} == 5 && $by{grant_rejected} > 10, 'the audit has a line for each proposal and decision') or diag(json_of(\%by));
my ($approved) = grep { $_->{event} eq 'grant_approved' } @audit;
same_json([@$approved{qw(proposalId owner template digest)}], [$one->{proposalId}, 'ada', 'tabs', digest('tabs')], 'a line of the audit says what was approved for whom');
isnt($approved->{requestor}, 'ada', 'a line of the audit says who approved');
$_->hang_up for grep { $_->can('hang_up') } $ada, $bob;
$s->stop;
ok(strays_gone(), 'no process is left');
done_testing();
