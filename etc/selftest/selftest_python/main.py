#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What "paddock selftest" tries by system calls: the input "try" says which.

The outcome is an errno's name, "done", or {"skip": why}; what the cage reports
as a violation has none.
"""
import errno
import json
import os
import sys
import threading
import time

# By the machine: x86_64, then what younger ones agree on.
NUMBERS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "mount": (165, 40),
    "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "keyctl": (250, 219), "open_by_handle_at": (304, 265),
    "seccomp": (317, 277), "init_module": (175, 105), "reboot": (169, 142),
    "pidfd_getfd": (438, 438), "fsopen": (430, 430), "io_uring_setup": (425, 425),
    "memfd_create": (319, 279), "clone3": (435, 435), "splice": (275, 76),
    "inotify_init1": (294, 26), "add_key": (248, 217), "mq_open": (240, 180),
    "mincore": (27, 232), "timerfd_create": (283, 85), "signalfd4": (289, 74),
    "io_setup": (206, 0), "rt_sigqueueinfo": (129, 138), "timer_create": (222, 107), "personality": (135, 92), "setuid": (105, 146), "chroot": (161, 51),
}


class Skip(Exception):
    pass


def caller(name):
    try:
        import ctypes
    except ImportError:
        raise Skip("this python3 has no ctypes")
    machines = {"x86_64": 0, "aarch64": 1, "riscv64": 1}
    machine = os.uname().machine
    if machine not in machines:
        raise Skip("the numbers of %s are not known" % machine)
    libc = ctypes.CDLL(None, use_errno=True)

    def do(*args):
        rc = libc.syscall(NUMBERS[name][machines[machine]], *args)
        return "done" if rc >= 0 else errno.errorcode[ctypes.get_errno()]
    return do


def call(name):
    args = {"personality": (0x0400000,), "unshare": (0x10000000,),
            "open_by_handle_at": (-100, 0, 0)}.get(name, (0, 0, 0, 0, 0, 0))
    return caller(name)(*args)


# What the kernel counts for all of a user's processes: is the end soon?
SOON = 1000


def until_refused(act):
    for _ in range(SOON):
        how = act()
        if how != "done":
            return how
    return "no end after %d" % SOON


def send_descriptors():
    import array
    import socket
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    fds = array.array("i", [0])
    try:
        ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"


def timers():
    import ctypes
    create, out = caller("timer_create"), ctypes.c_int()
    return until_refused(lambda: create(1, None, ctypes.byref(out)))


def waiting_signals():
    import ctypes
    import signal
    queue, sig = caller("rt_sigqueueinfo"), signal.SIGRTMIN + 2
    signal.pthread_sigmask(signal.SIG_BLOCK, [sig])
    info = (ctypes.c_int * 32)(sig, 0, -1)  # SI_QUEUE
    return until_refused(lambda: queue(os.getpid(), sig, ctypes.byref(info)))


# Bounded, whatever comes of it: the machine is everybody's.
MANY = 20000


def ranges():
    import fcntl
    import struct
    fd = os.open("ranges", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        for n in range(MANY, 0, -1):
            fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 2 * n, 1, 0))
    except OSError as e:
        return errno.errorcode[e.errno]
    return "no end after %d" % MANY


def watches():
    import select
    ends = [os.pipe()[0] for _ in range(100)]
    epolls = []
    try:
        for n in range(MANY // 100):
            epolls.append(select.epoll())
            for fd in ends:
                epolls[n].register(fd)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "no end after %d" % MANY


def socket_filter():
    import socket
    import struct
    ours, theirs = socket.socketpair()
    for option in 26, 50, 51, 52, 44:
        try:
            ours.setsockopt(socket.SOL_SOCKET, option, struct.pack("HxxxxxxP", 1, 0))
            return "option %d" % option
        except OSError as e:
            if e.errno != errno.ENOPROTOOPT:
                return "option %d: %s" % (option, errno.errorcode[e.errno])
    return "ENOPROTOOPT"


def cached_pages():
    fd = os.open("/bin/sh", os.O_RDONLY)
    try:
        os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT)
    except OSError as e:
        return "EOPNOTSUPP" if e.errno == errno.EOPNOTSUPP else errno.errorcode[e.errno]
    return "done"


# Memory that grows down, which is data to no limit.
def grows_down():
    import mmap
    try:
        mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"


def which_pages():
    return caller("mincore")(0, 0, 0)


# Its own limit of cores, by which a crash would start core_pattern's program.
def cores():
    import resource
    was = resource.getrlimit(resource.RLIMIT_CORE)
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError):
        return "refused" if was == (1, 1) else "refused, but it was %s" % (was,)
    return "done"


def socket_buffers():
    import socket
    ours, theirs = socket.socketpair()
    was = ours.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 20)
    return "grown" if ours.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) > was else "as it was"


def executions():
    # No file is there, so that no kernel starts a helper for its format: all executions count.
    for _ in range(MANY):
        try:
            os.execv("nothing", ["nothing"])
        except OSError as e:
            if e.errno != errno.ENOENT:
                return errno.errorcode[e.errno]
    return "no end after %d" % MANY


def many_polled():
    import ctypes
    do = ctypes.CDLL(None, use_errno=True)
    rc = do.poll(ctypes.create_string_buffer(8 * 2000), 2000, 0)
    return "done" if rc >= 0 else errno.errorcode[ctypes.get_errno()]


def sockets():
    import socket
    for family in 1, 2, 10, 16, 17, 38, 40:
        try:
            socket.socket(family, socket.SOCK_DGRAM)
            return "family %d" % family
        except OSError as e:
            if e.errno != errno.EAFNOSUPPORT:
                return errno.errorcode[e.errno]
    return "EAFNOSUPPORT"


def lone_socket():
    import socket
    try:
        socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"


def descriptors():
    return [fd for fd in range(5, 256) if os.path.exists("/proc/self/fd/%d" % fd)
            and fd != 5]


def memory():
    for _ in range(4):
        if os.fork() == 0:
            break
    kept = []
    try:
        while True:
            kept.append(bytearray(b"x") * (1 << 20))
    except MemoryError:
        time.sleep(60)


def threads():
    try:
        while True:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    except RuntimeError:
        os.write(1, b'"bounded"')
        os._exit(0)


def main():
    name = json.load(sys.stdin)["try"]
    own = {"sockets": sockets, "lone_socket": lone_socket,
           "descriptors": descriptors, "memory": memory, "threads": threads,
           "send_descriptors": send_descriptors, "timers": timers,
           "waiting_signals": waiting_signals, "ranges": ranges, "watches": watches,
           "socket_filter": socket_filter, "cached_pages": cached_pages,
           "many_polled": many_polled, "grows_down": grows_down,
           "which_pages": which_pages, "cores": cores,
           "socket_buffers": socket_buffers, "executions": executions}
    try:
        print(json.dumps(own[name]() if name in own else call(name)))
    except Skip as why:
        print(json.dumps({"skip": str(why)}))


main()
