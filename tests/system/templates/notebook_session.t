#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# A long session of a notebook of run_python over a table of weather stations, with time-outs,
# exceptions, memory errors, cancels, crashes and kills at seeded places. At the end the
# variables equal the variables of a plain Python process without the undone cells.
# PADDOCK_CELLS=1000 makes the session long, and PADDOCK_SEED repeats a session.
use strict;
use warnings;
use Cwd qw(abs_path);
use Cpanel::JSON::XS ();
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use lib 'tests/lib';
use JSON::PP ();
use Needs;
use ResidentHost;
use Test::More;

needs('python3');
my $CELLS = $ENV{PADDOCK_CELLS} // 120;
my $SEED = $ENV{PADDOCK_SEED} // 27;
my $PYTHON = '/usr/bin/python3';
my $TOP = abs_path(dirname(__FILE__) . '/../../..');
my $json = Cpanel::JSON::XS->new->utf8->canonical->allow_nonref;

srand $SEED;
sub one_of { return $_[int rand @_] }
sub number { return int rand $_[0] }

# ---- the table ----

my @STATIONS = map { "station-$_" } 1 .. 12;
my $CSV = "station,day,temperature,rain\n" . join '', map {
	my $station = $_;
	map { sprintf "%s,%d,%.1f,%s\n", $station, $_, rand(40) - 10, one_of('', map { sprintf '%.1f', rand 30 } 1 .. 3) } 1 .. 60
} @STATIONS;

# ---- cells: [how it ends, code] ----

my $LOAD = <<'END';
import collections, csv, os, random, statistics, time
random.seed(1)
rows = list(csv.DictReader(open('weather.csv')))
by = collections.defaultdict(list)
for row in rows:
    by[row['station']].append(float(row['temperature']))
means = {name: statistics.mean(values) for name, values in by.items()}
notes, total, table = [], 0.0, open('weather.csv')
END

sub changes {
	my $station = one_of(@STATIONS);
	my $n = number(1000);

	return one_of(
	    "by['$station'].append($n / 7)\nmeans['$station'] = statistics.mean(by['$station'])",
	    "total += sum(by['$station']) * $n",
	    "notes.append(('$station', len(by['$station']), round(random.random(), 12)))",
	    "rows.sort(key=lambda row: (row['rain'], row['day'], row['station']), reverse=" . one_of(qw(True False)) . ")",
	    "by['$station'] = by['$station'][::-1][:" . (20 + number(60)) . "]",
	    "notes.append(table.readline())",
	    "def shift_$n(x, by=$n):\n    return x + by\ntotal = shift_$n(total)",
	    "copy = {name: list(values) for name, values in by.items()}\ncopy['$station'].clear()",
	    "random.shuffle(rows)\nnotes.append(rows[$n % len(rows)]['day'])",
	    "class Station_$n:\n    seen = $n\nnotes.append(Station_$n.seen)\nnotes = notes[-200:]",
	    "max(means, key=means.get)",
	    "print(total, len(notes))",
	);
}
sub well { return ['well', changes() . "\n" . changes()] }
sub raises { return ['raises', changes() . "\n" . one_of('1 / 0', "means['nowhere']", "raise ValueError('bad')", "int('x')", "open('nowhere')") . "\n" . changes()] }
sub lacks_memory { return ['raises', changes() . "\nhuge = bytearray(1 << 46)\n" . changes()] }
sub loops { return ['loops', changes() . "\n" . one_of('while True: total += 1', "time.sleep(600)", "notes = notes * 2\nwhile True: rows.reverse()")] }
sub crashes { return ['crashes', changes() . "\nrows.clear()\n" . one_of('os._exit(3)', 'os.kill(os.getpid(), 11)', 'os.abort()', "os.execv('/bin/true', ['true'])")] }
sub waits { return ['cancelled', changes() . "\nnotes.append('lost')\nprint('waits', flush=True)\ntime.sleep(600)"] }
sub is_killed { return ['killed', changes() . "\nby.clear()\nprint('waits', os.getpid(), flush=True)\ntime.sleep(600)"] }
sub undone { return ['undone later', changes()] }

sub next_cell {
	my $at = number(100);

	return $at < 64 ? well() : $at < 74 ? raises() : $at < 78 ? lacks_memory() : $at < 83 ? loops()
	    : $at < 88 ? crashes() : $at < 92 ? waits() : $at < 95 ? is_killed() : undone();
}

# ---- the notebook ----

my $h = ResidentHost->new(command => [$PYTHON, "$TOP/etc/templates/run_python/main.py"]);
my (@kept, %count, @wrong);

# How a run of the cell ended, as its answer has it.
sub play {
	my ($kind, $code) = @_;

	return $h->cell($code, timeoutMs => 30) if $kind eq 'loops';
	return $h->cell($code) if $kind !~ /^(?:cancelled|killed)\z/;
	my $id = $h->begin({code => $code});

	if ($kind eq 'cancelled') {
		$h->await_log(qr/waits/);
		$h->cancel($id, one_of(qw(cancel timeout memory cpu)));
	} else {
		$h->kill_in_cage($h->await_log(qr/waits (\d+)/), 'KILL');
	}
	return $h->await($id);
}

# The fault of the answer R, in a few words, or ''.
sub fault {
	my ($kind, $r) = @_;
	my $notebook = $r->{output}{notebook} // {};
	my $is_kept = $kind =~ /^(?:well|raises|undone later)\z/;

	return 'no answer' if !$r->{output};
	return "state $notebook->{state}: $notebook->{why}" if $notebook->{state} ne ($is_kept ? 'kept' : 'restored');
	return 'a state that is not as before' if !$is_kept && $notebook->{why} !~ /the notebook is as it was before this cell/;
	return 'no checkpoint: ' . $notebook->{checkpointWhy} if exists $notebook->{checkpoint};
	return 'no exception' if $kind eq 'raises' && !$r->{output}{error};
	return "an exception: $r->{output}{error}{value}" if $kind eq 'well' && $r->{output}{error};
	return '';
}

my $first = $h->run({code => $LOAD}, 'weather.csv' => $CSV);
is($first->{output}{exitCode}, 0, 'the table of weather stations is loaded') or diag($first->{output}{stderr});
for my $n (1 .. $CELLS) {
	my ($kind, $code) = @{next_cell()};
	my $r = play($kind, $code);
	my $fault = fault($kind, $r);

	push @wrong, "cell $n ($kind): $fault" if $fault;
	last if !$r->{output};
	$count{$kind}++;
	push @kept, $code if $kind =~ /^(?:well|raises)\z/;
	if ($kind eq 'undone later') {
		my $undo = $h->run({undo => JSON::PP::true});

		push @wrong, "cell $n is not undone" if ($undo->{output}{notebook}{why} // '') !~ /was undone, as asked\z/;
	}
}
is_deeply(\@wrong, [], "each of $CELLS cells ends as it should (PADDOCK_SEED=$SEED)");
diag(join ', ', map { "$count{$_} $_" } sort keys %count);

# ---- a plain process ----

my $DUMP = <<'END';
import json
names = sorted(n for n in globals() if n.startswith(('shift_', 'Station_')))
with open('state.json', 'w') as file:
    json.dump([rows, by, means, notes, total, globals().get('copy'), names, table.readline(),
               random.random(), os.getcwd() == os.path.dirname(os.path.abspath('weather.csv')), time.process_time() > 0], file, sort_keys=True)
END

sub plain_state {
	my $folder = tempdir(CLEANUP => 1);
	my $cells = $json->encode([$LOAD, @kept, $DUMP]);

	for (['weather.csv', $CSV], ['cells.json', $cells], ['plain.py', <<'END']) {
import json, sys
scope = {'__name__': '__main__', '__builtins__': __builtins__}
for code in json.load(open('cells.json')):
    try:
        exec(code, scope)
    except Exception:
        pass
END
		open my $out, '>', "$folder/$_->[0]" or die "$_->[0]: $!";
		print {$out} $_->[1];
		close $out;
	}
	system("cd $folder && $PYTHON plain.py >/dev/null") == 0 or die "the plain process failed\n";
	return slurp("$folder/state.json");
}
sub slurp { open my $in, '<', $_[0] or return "no $_[0]"; local $/; return scalar <$in> }

$h->cell($DUMP);
my ($mine, $plain) = map { eval { $json->decode($_) } } slurp("$h->{folder}/state.json"), plain_state();

my @names = qw(rows by means notes total copy functions line random folder time);
for my $i (0 .. $#names) {
	is_deeply($mine->[$i], $plain->[$i], "$names[$i]: as in a plain process that skipped the undone cells");
}
is($h->stop, 0, 'the session ends in order');
is_deeply([$h->descendants], [], 'the session leaves no process');
done_testing;
