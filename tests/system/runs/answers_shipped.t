#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Every tool of a shipped server has an outputSchema, and satisfies the schema: templates
# with the inputs of their own tests, synchronously and as a handle, and the browser's tools
# in real Chromium.
use lib 'tests/lib';
use Paddock;
use Broker;
use Pages ();
use Site;

my $EACH = 3; # inputs of a template's tests that are tried
my $no_browser = lacks('Chromium');
my $s = Paddock->new(dirs => ["$TOP/etc/templates"], grants => ['hosts=127.0.0.1'],
		     config => {inline_wait_ms => 30000})->greeted;
my %tool = map { $_->{name} => $_ } @{$s->call('tools/list')->{result}{tools}};

# As the official clients judge: an error's may be absent.
sub fits_tool {
	my ($name, $r, $what) = @_;
	my $value = $r->{structuredContent};
	my @wrong = defined $value ? schema_errors($tool{$name}{outputSchema}, $value)
	    : $r->{isError} ? () : 'structuredContent is missing';

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is("@wrong", '', "$name: $what fits its outputSchema");
	return $r;
}

is(join(' ', grep { !$tool{$_}{outputSchema} } sort keys %tool), '', scalar(keys %tool) . ' tools have an outputSchema');
is(join(' ', grep { $tool{$_}{outputSchema}{type} ne 'object' } sort keys %tool), '', '  of the type object');

for my $folder (sort glob "$TOP/etc/templates/*") {
	my ($id) = $folder =~ m{([^/]+)$};
	my @tests = sort glob "$folder/tests/*.json";
	my $good = 0;

	next if !$tool{$id} || !@tests;
	for (splice @tests, 0, $EACH) {
		my $inputs = json_to(read_file($_))->{inputs};
		my ($test) = m{([^/]+)$};
		my $r = fits_tool($id, $s->tool($id, $inputs), $test);

		$good++ unless $r->{isError};
		fits_tool('run_task_template', $s->run($id, $inputs, mode => 'sync'), "$id, $test,");
		my $run = fits_tool('run_task_template', $s->run($id, $inputs, mode => 'async'), "$id, $test, a handle,");
		$s->ended($run->{view}{runId}) if $run->{view}{runId};
		fits_tool('get_task_run', $s->tool(get_task_run => {runId => $run->{view}{runId}}), "$id, $test,")
		    if $run->{view}{runId};
	}
	ok($good, "$id: some of that was no error") if $id !~ /^(batch_extract_pages|login_keep_session|multi_tab_compare)$/;
}

SKIP: {
	skip $no_browser, 1 if $no_browser;
	my $site = Site->new;
	my ($login, $article) = map { $site->url("/$_.html") } qw(login article);
	my $tab = fits_tool('create_tab', $s->tool('create_tab', {url => $article}), 'a tab')->{view};
	my %t = (tabId => $tab->{tabId});
	my @calls = (
	    [navigate => {%t, url => $login}], [navigate => {%t, url => $site->url('/none.html')}],
	    [navigate => {%t, url => 'http://192.0.2.1/'}], [navigate => {%t, url => $login}],
	    [wait_for_stable => {%t}], [get_page_info => {%t}], [get_page_content => {%t}],
	    [find_element => {%t, selector => 'input'}], [find_element => {%t, selector => 'video'}],
	    [wait => {%t, selector => 'input'}], [wait => {%t, selector => 'video', timeoutMs => 100}],
	    [type_text => {%t, selector => 'input', text => 'ada'}], [press_key => {%t, key => 'Tab'}],
	    [click => {%t, selector => 'input'}], [click => {%t, selector => 'video'}],
	    [screenshot => {%t}], [list_sessions => {}], [close_tab => {%t}],
	    [close_session => {sessionId => $tab->{sessionId}}], [list_sessions => {}],
	    [close_tab => {tabId => 'tab_none'}]);
	my %good = (create_tab => 1);

	for (@calls) {
		my ($name, $args) = @$_;
		my $r = fits_tool($name, $s->tool($name, $args), json_of({%$args, tabId => 'T'}));

		$good{$name} = 1 unless $r->{isError};
	}
	is(join(' ', grep { !$good{$_} } qw(create_tab navigate wait_for_stable get_page_info get_page_content
		close_tab click type_text press_key wait find_element screenshot close_session list_sessions)), '',
	   'each of the browser\'s tools has done something');
	fits_tool('batch_extract_pages', $s->tool(batch_extract_pages => {urls => [$article, $site->url('/none.html')]}), 'pages');
	fits_tool('multi_tab_compare', $s->tool(multi_tab_compare => {urls => [$article, $login]}), 'a comparison');
	fits_tool('login_keep_session', $s->tool(login_keep_session => Pages::login($site)), 'a login');
	$site->stop;
}
$s->stop;
done_testing;
