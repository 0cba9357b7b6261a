#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The shipped templates with the largest intended inputs.
use lib 'tests/lib';
use Paddock;
use Artifact;
use POSIX qw(ceil strftime);

my $LINES = 1_000_000;
my $START = 1_730_000_040; # 2024-10-27, a whole minute
my $MEMORY = json_to(read_file("$TOP/etc/templates/log_digest/template.json"))
    ->{limits}{maxMemoryBytes};

$PATIENCE *= 4; # what is waited for here takes seconds

my $s = Paddock->new(dirs => ["$TOP/etc/templates"],
		     config => {max_message_bytes => '256M',
				max_memory_bytes => $MEMORY})->greeted;

# ---- log_digest ----

# The contents of a log, and the expected result.
my @paths = (map { "/item/$_" } 1 .. 5000), map { "/page/$_.html" } 1 .. 200;
my @clients = map { join '.', 10, $_ >> 16, $_ >> 8 & 255, $_ & 255 }
    map { $_ * 7919 } 1 .. 2000;
my @statuses = ((200) x 80, (301) x 5, 304, (404) x 10, 403, (500) x 2, 503);
my @methods = (('GET') x 9, 'POST');
my @junk = ('garbage', '10.0.0.1 - - [no date] "GET / HTTP/1.1" 200 1', '-');

my %want = (lines => $LINES, parsed => 0, bytes => 0, distinctExact => true,
	    bucket => 'hour', statuses => {}, classes => {}, methods => {});
my (%requests, %errors, %of_client, %hours, %latencies, @unparsed, $last);

# Add a line, as JSON has the line within a string, and count the line.
sub log_line {
	my ($n) = @_;
	my $junk = rand() < 0.001;

	if ($junk) {
		my $text = $junk[rand @junk];

		push @unparsed, [$n, $text];
		return $text =~ s/"/\\"/gr . '\n';
	}
	my $at = $START + int($n / 20);
	my ($path, $client, $status, $method) =
	    ($paths[rand() ** 3 * @paths], $clients[rand() ** 2 * @clients],
	     $statuses[rand @statuses], $methods[rand @methods]);
	my ($size, $ms) = (int(rand() ** 4 * 1e6), 1 + int(rand() ** 5 * 30000));

	$want{statuses}{$status}++;
	$want{methods}{$method}++;
	$want{bytes} += $size;
	$requests{$path}++;
	$of_client{$client}++;
	$latencies{$ms}++;
	my $hour = $hours{int($at / 3600)} //= [0, 0, 0];
	$hour->[0]++;
	if ($status >= 400) {
		$errors{$path}++;
		$hour->[$status < 500 ? 1 : 2]++;
	}
	$last = $at;
	my $query = $ms % 3 ? '' : '?q=1';
	return "$client - - [" . stamp($at) . "] \\\"$method $path$query HTTP/1.1\\\" " .
	    "$status $size \\\"-\\\" \\\"agent/1.0 (test)\\\" $ms\\n";
}

# "27/Oct/2024:03:34:00 +0000": the log is of one day. Lines of one minute are adjacent.
my ($minute, $minute_text) = (-1);
sub stamp {
	my ($at) = @_;

	if (int($at / 60) != $minute) {
		$minute = int($at / 60);
		$minute_text = strftime('%d/Oct/%Y:%H:%M:', gmtime $at);
	}
	return $minute_text . sprintf '%02d +0000', $at % 60;
}

sub iso { return strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $_[0]) }

# The N first of COUNTS, by count and then by name.
sub busiest {
	my ($counts, $n) = @_;
	my @names = sort { $counts->{$b} <=> $counts->{$a} || $a cmp $b }
	    keys %$counts;

	return @names > $n ? @names[0 .. $n - 1] : @names;
}

# By nearest rank.
sub percentiles {
	my ($counts, $n, %ranks) = @_;
	my $seen = 0;
	my %out;

	for my $x (sort { $a <=> $b } keys %$counts) {
		$seen += $counts->{$x};
		for (keys %ranks) {
			$out{$_} //= $x + 0 if $seen >= ceil($ranks{$_} * $n / 100);
		}
	}
	return \%out;
}

sub sum_up {
	$want{parsed} += $_ for values %{$want{statuses}};
	$want{classes}{substr($_, 0, 1) . 'xx'} += $want{statuses}{$_}
	    for keys %{$want{statuses}};
	$want{unparsed} = {count => scalar @unparsed,
		first => [map { {line => $_->[0], text => $_->[1]} }
			  @unparsed[0 .. 4]]};
	$want{distinctPaths} = keys %requests;
	$want{distinctClients} = keys %of_client;
	$want{topPaths} = [map { {path => $_, requests => $requests{$_},
				  errors => $errors{$_} // 0} }
			   busiest(\%requests, 25)];
	$want{topClients} = [map { {client => $_, requests => $of_client{$_}} }
			     busiest(\%of_client, 25)];
	$want{errorsOverTime} = [map { {from => iso($_ * 3600),
		requests => $hours{$_}[0], errors4xx => $hours{$_}[1],
		errors5xx => $hours{$_}[2]} } sort { $a <=> $b } keys %hours];
	$want{period} = {from => iso($START), to => iso($last)};
	$want{latency} = {count => $want{parsed}, sourceUnit => 'ms',
		unitGuessed => false, exact => true,
		%{percentiles(\%latencies, $want{parsed}, p50 => 50, p90 => 90,
			      p95 => 95, p99 => 99, max => 100)}};
}

# The call as text: a JSON encoder in Perl would take longer than the run.
sub ask_digest {
	my $id = $s->{next_id}++;

	$s->{asked}{$id} = 'run_task_template';
	$s->send_raw(qq({"jsonrpc":"2.0","id":$id,"method":"tools/call",) .
		     '"params":{"name":"run_task_template","arguments":{' .
		     '"templateId":"log_digest","options":{"mode":"sync"},' .
		     '"inputs":{"top":25,"latencyUnit":"ms","log":"');
	srand 5;
	for (my $n = 1; $n <= $LINES; $n += 10_000) {
		$s->send_raw(join '', map { log_line($_) } $n .. $n + 9_999);
		$s->flush;
	}
	$s->send_raw('"}}}}' . "\n");
	sum_up();
	return $id;
}

my $view = $s->result(ask_digest())->{view};
my $r = $view->{result} // {};

is($view->{status}, 'succeeded', "log_digest reads $LINES lines")
    or diag(substr json_of($view), 0, 2000);
cmp_ok($view->{metrics}{maxRssBytes}, '<', $MEMORY,
       'in less memory than its manifest asks for');
same_json($r->{$_}, $want{$_}, "log_digest counts what was written: $_")
    for sort keys %want;
same_json([sort keys %$r], [sort keys %want], 'log_digest has no other members');

# ---- check_records ----

# Every second of 10,000 records breaks a rule.
my @records = map { {id => $_, name => $_ % 2 ? 'odd' : 'even'} } 1 .. 10_000;

$view = $s->run_sync(check_records => {records => \@records, rules => [
	{field => 'id', required => true, type => 'integer', unique => true},
	{field => 'name', pattern => '^odd$'}]});
$r = $view->{result} // {};
is($view->{status}, 'partial_success', 'check_records: half of 10,000 pass')
    or diag(substr json_of($view), 0, 2000);
same_json([@$r{qw(total passed failed brokenRules)}],
	  [10_000, 5_000, 5_000, 5_000], 'all of them counted');
is(scalar @{$r->{failures} // []}, 1000, 'the first 1000 failures shown');
my $lines = () = (artifact($s, $view, 'failures.csv') // '') =~ /\r\n/g;
is($lines, 5_001, 'failures.csv has all');

$s->stop;
done_testing();
