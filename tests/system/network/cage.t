#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# The cage of a program with network: TCP to the one socket of paddock-egress on the run's
# own loopback, and no other way out; beside the run a host of the machine, on loopback and by
# an abstract name, and a second run with network. Runs without network have the cage of
# before.
use lib 'tests/lib';
use Paddock;
use EgressSite;
use Needs;
use Socket;

my $names = EgressSite::names({'api.test' => [['A', '127.0.0.1']]});
my $port = EgressSite::http_host('127.0.0.1', {});
my $abstract = "paddock-test-$$";
socket my $named, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!\n";
bind $named, sockaddr_un("\0$abstract") or die "bind: $!\n";
listen $named, 8;

# The result has a word for each way: an error, or what was reached.
my $ATTACKS = <<'PY';
#!/usr/bin/python3
import ctypes, errno, fcntl, json, os, socket, struct, sys
given = json.load(sys.stdin)
out = {}
def way(name):
    def run(f):
        try:
            r = f()
            out[name] = "open" if r is None else str(r)
        except OSError as e:
            out[name] = errno.errorcode.get(e.errno, str(e))
        except Exception as e:
            out[name] = type(e).__name__
    return run
def tcp(host, port, family=socket.AF_INET, how=None):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.settimeout(20)
    s.connect((host, port))
    return s
def ask(text, port=3128):
    s = tcp("127.0.0.1", port)
    s.sendall(text.encode())
    return s.recv(65536).decode("latin1").split("\r\n")[0]
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *a):
    if getattr(libc, name)(*a) < 0:
        raise OSError(ctypes.get_errno(), name)
@way("datagrams")
def _(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
@way("datagrams of IPv6")
def _(): socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
@way("raw IP")
def _(): socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
@way("raw IPv6")
def _(): socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)
@way("packets")
def _(): socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x300)
@way("netlink")
def _(): socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
@way("several paths")
def _(): socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
@way("another stream")
def _(): socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
@way("machines and guests")
def _(): socket.socket(40, socket.SOCK_STREAM)
@way("bluetooth")
def _(): socket.socket(31, socket.SOCK_RAW, 1)
@way("the kernel's ciphers")
def _(): socket.socket(38, socket.SOCK_SEQPACKET)
@way("a local socket")
def _(): socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect("\0" + given["abstract"])
@way("a pair that connects elsewhere")
def _():
    a, b = socket.socketpair()
    a.connect("\0" + given["abstract"])
@way("the machine's loopback")
def _(): tcp("127.0.0.1", given["port"])
@way("the machine's loopback by IPv6")
def _(): tcp("::1", given["port"], socket.AF_INET6)
@way("the machine's loopback by a mapped address")
def _(): tcp("::ffff:127.0.0.1", given["port"], socket.AF_INET6)
@way("an address of the network")
def _(): tcp("192.0.2.7", 80)
@way("an address of the network, at the port of the socket")
def _(): tcp("192.0.2.7", 3128)
@way("an address of IPv6")
def _(): tcp("2001:db8::7", 3128, socket.AF_INET6)
@way("metadata of a cloud")
def _(): tcp("169.254.169.254", 80)
@way("another port of loopback")
def _(): tcp("127.0.0.1", 22)
@way("bytes with the connection")
def _():
    s = socket.socket()
    s.sendto(b"x", 0x20000000, ("192.0.2.7", 80))
@way("a server of its own")
def _():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
@way("listening without a name")
def _(): socket.socket().listen()
@way("an interface that is given another address")
def _(): fcntl.ioctl(socket.socket(), 0x8916, struct.pack("16sH14s", b"lo", 2, b"\0\0\x0a\x00\x00\x01"))
@way("an interface to the device")
def _(): socket.socket().setsockopt(socket.SOL_SOCKET, 25, b"eth0")
@way("a mark of packets")
def _(): socket.socket().setsockopt(socket.SOL_SOCKET, 36, 7)
@way("addresses of others")
def _(): socket.socket().setsockopt(0, 19, 1)
@way("a route in the packet")
def _(): socket.socket().setsockopt(0, 4, b"\x83\x07\x04\x7f\x00\x00\x01\0")
@way("the namespace of the parent")
def _():
    fd = os.open("/proc/1/ns/net", os.O_RDONLY)
    call("setns", fd, 0)
@way("the listening socket, by /proc")
def _():
    for n in range(40):
        os.open("/proc/1/fd/%d" % n, os.O_RDWR)
@way("the socket is held by nobody here")
def _():
    for n in os.listdir("/proc/self/fd"):
        if os.readlink("/proc/self/fd/" + n).startswith("socket:"):
            return "fd " + n
    raise OSError(errno.ENOENT, "")
@way("a tunnel to what is not granted")
def _(): return ask("CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (given["port"], given["port"]))
@way("a tunnel to another port")
def _(): return ask("CONNECT api.test:22 HTTP/1.1\r\nHost: api.test:22\r\n\r\n")
@way("a tunnel to paddock-egress' own loopback")
def _(): return ask("CONNECT localhost:3128 HTTP/1.1\r\nHost: localhost:3128\r\n\r\n")
@way("another Host than the address")
def _(): return ask("GET http://api.test:%d/ HTTP/1.1\r\nHost: other.test\r\n\r\n" % given["port"])
@way("a request that hides another")
def _(): return ask("POST http://api.test:%d/ HTTP/1.1\r\nHost: api.test:%d\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (given["port"], given["port"]))
@way("SOCKS")
def _(): return ask("\x05\x01\x00")
@way("TLS to paddock-egress")
def _(): return ask("\x16\x03\x01\x00\x05hello")
@way("a plain tunnel")
def _():
    s = tcp("127.0.0.1", 3128)
    s.sendall(b"CONNECT api.test:%d HTTP/1.1\r\nHost: api.test:%d\r\n\r\n" % (given["port"], given["port"]))
    first = s.recv(65536)
    s.sendall(b"GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
    said = s.recv(65536)
    return "open" if said.startswith(b"HTTP") else "closed"
print(json.dumps(out))
PY

# Answers of paddock-egress that refuse; the kernel refuses the other ways.
my %answer = (
	"a tunnel to what is not granted" => qr{^HTTP/1\.1 403 },
	"a tunnel to another port" => qr{^HTTP/1\.1 403 },
	"a tunnel to paddock-egress' own loopback" => qr{^HTTP/1\.1 403 },
	"another Host than the address" => qr{^HTTP/1\.1 400 },
	"a request that hides another" => qr{^HTTP/1\.1 400 },
	"SOCKS" => qr{^HTTP/1\.1 400 |^$},
	"TLS to paddock-egress" => qr{^HTTP/1\.1 400 |^$},
	"a plain tunnel" => qr{^(?:closed|ECONNRESET)$},
);

my $PLAIN = <<'PY';
#!/usr/bin/python3
import errno, json, os, socket
out = {}
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    try:
        socket.socket(family, socket.SOCK_STREAM)
        out[int(family)] = "open"
    except OSError as e:
        out[int(family)] = errno.errorcode[e.errno]
lo = [l.split(":")[0].strip() for l in open("/sys/class/net/lo/operstate")] if os.path.exists("/sys/class/net") else []
print(json.dumps({"sockets": out, "lo": lo, "proxies": [k for k in os.environ if "prox" in k.lower()], "files": os.listdir("/dev/shm")}))
PY

my %templates = (
	attacks => {program => $ATTACKS, permissions => {network => ["api.test:$port"]}, limits => {maxMemoryBytes => 512 << 20}},
	plain   => {program => $PLAIN},
	granted => {program => $PLAIN, permissions => {network => ['granted']}},
);

for (users()) {
	my ($who, $uid) = @$_;
	my $s = Paddock->new(user => $uid, templates => \%templates, config => <<"CONF")->greeted;
[network]
resolver = $names
private = 127.0.0.0/8
[grant "attacks"]
network = api.test:$port
[grant "*"]
network = api.test:$port
CONF
	my $v = $s->run(attacks => {port => $port, abstract => $abstract})->{view};
	my %got = %{$v->{result} // {}};

	cmp_ok(scalar keys %got, '>', 35, "$who: all ways were tried") or diag(json_of($v));
	for my $way (sort keys %got) {
		my $answer = $answer{$way};
		ok($answer ? $got{$way} =~ $answer : $got{$way} =~ /\AE[A-Z]+\z/ || $got{$way} =~ /\A(?:TimeoutError|FileNotFoundError|PermissionError)\z/,
		   "$who: $way is closed") or diag("$way: $got{$way}");
	}
	my %same = map { $_ => $s->run($_ => {})->{view}{result} } qw(plain granted);
	is_deeply($same{plain}{sockets}, {map { $_ => 'EAFNOSUPPORT' } AF_INET, AF_INET6, AF_UNIX, 16}, "$who: a run without network has no socket");
	is_deeply($same{plain}{proxies}, [], "$who: a run without network has no variable of a proxy");
	is_deeply($same{granted}, $same{plain}, "$who: a grant to all templates is none to a template that takes what its own name is granted");
	$s->stop("$who: the server ends and leaves nothing behind");
}
done_testing;
