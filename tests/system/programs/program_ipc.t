#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# How programs talk among their own processes: what interpreters bring for
# that works in the cage, where descriptors cannot be sent. As root, and as an
# ordinary user.
use lib 'tests/lib';
use Paddock;
use Cage;

my %programs = (
    node => ['/usr/bin/node', '{"parts":[1,4,9],"streamed":200000,"threads":6}', <<'JS'],
const {fork, spawn} = require('child_process');
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');
if (process.argv[2] === 'part')
	process.on('message', (n) => process.send(n * n, () => process.disconnect()));
else if (!isMainThread)
	parentPort.postMessage(workerData * 2);
else
	(async () => {
		const parts = await Promise.all([1, 2, 3].map((n) => new Promise((done) => {
			const child = fork(__filename, ['part']);
			child.on('message', done);
			child.send(n);
		})));
		const streamed = await new Promise((done) => {
			const cat = spawn('cat');
			let bytes = 0;
			cat.stdout.on('data', (d) => { bytes += d.length; });
			cat.on('close', () => done(bytes));
			cat.stdin.end(Buffer.alloc(200000));
		});
		const threads = await new Promise((done) =>
			new Worker(__filename, {workerData: 3}).on('message', done));
		console.log(JSON.stringify({parts, streamed, threads}));
	})();
JS
    python => ['/usr/bin/python3',
	       '{"pool":[1,4,9],"queue":6,"pipe":"over","streamed":200000,"async":200000}', <<'PY'],
import asyncio, json, multiprocessing as mp, subprocess, sys

def square(n):
    return n * n

def put(q, n):
    q.put(n * 2)

def answer(end):
    end.send(end.recv() + "r")

async def stream():
    cat = await asyncio.create_subprocess_exec(
        "cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await cat.communicate(bytes(200000))
    return len(out)

if __name__ == "__main__":
    got = {}
    with mp.Pool(2) as pool:
        got["pool"] = pool.map(square, [1, 2, 3])
    q = mp.Queue()
    p = mp.Process(target=put, args=(q, 3))
    p.start()
    got["queue"] = q.get()
    p.join()
    ours, theirs = mp.Pipe()
    p = mp.Process(target=answer, args=(theirs,))
    p.start()
    ours.send("ove")
    got["pipe"] = ours.recv()
    p.join()
    got["streamed"] = len(subprocess.run(["cat"], input=bytes(200000),
                                         capture_output=True).stdout)
    got["async"] = asyncio.run(stream())
    print(json.dumps(got))
PY
    perl => ['/usr/bin/perl', '{"both":"hello back"}', <<'PL'],
use Socket;
socketpair(my $us, my $them, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die $!;
if (!fork) {
	sysread $them, my $word, 5;
	send $them, "$word back", 0;
	exit;
}
syswrite $us, 'hello';
recv $us, my $all, 100, 0;
print qq({"both":"$all"});
PL
);

sub in_cage {
	my ($who, $user) = @_;
	my %have = map { $_ => $programs{$_} } grep { -x $programs{$_}[0] } keys %programs;
	my $s = Paddock->new(user => $user, templates => {
		map { $_ => {program => "#!$have{$_}[0]\n$have{$_}[2]",
			     limits => {maxMemoryBytes => 1 << 30}} } keys %have})->greeted;
	my $programs;

	until_true('programs to be tried', sub {
		$programs = $s->tool('get_runtime_profile')->{view}{programs} });
      SKIP: {
		skip uncaged("$who: $programs->{reason}", $user), scalar keys %programs
		    unless $programs->{available};
		for (sort keys %programs) {
		      SKIP: {
				skip "there is no $programs{$_}[0]", 1 unless $have{$_};
				my $v = $s->run_sync($_, {});

				same_json($v->{result}, json_to($programs{$_}[1]),
					  "$who: what $_ says to its own processes")
				    or diag(json_of($v));
			}
		}
	}
	$s->stop("nothing is left ($who)");
}

in_cage(@$_) for users();
done_testing;
