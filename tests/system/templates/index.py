# SPDX-License-Identifier: Apache-2.0
# An index of Python's packages and a registry of Node.js's, on a port of
# loopback: some of what they have is hostile. The first line printed says where
# it is, and the hashes; what is asked for below /stall/ never comes, below /cut/ the half
# of it, and below /broken/ an error.
import base64
import hashlib
import io
import json
import sys
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

files = {}
FLOOD = int(sys.argv[1]) if len(sys.argv) > 1 else 0


def wheel(name, members, mode=0o644):
    """NAME 1.0 with MEMBERS, whatever they are called, and a RECORD of them."""
    info = f"{name}-1.0.dist-info"
    members = dict(members)
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members[f"{info}/RECORD"] = "".join(f"{m},,\n" for m in [*members, f"{info}/RECORD"])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for member, text in members.items():
            entry = zipfile.ZipInfo(member)
            entry.external_attr = (0o100000 | mode) << 16
            if isinstance(text, tuple):  # a link
                entry.external_attr = 0o120777 << 16
                text = text[0]
            z.writestr(entry, text)
    keep(name, f"{name}-1.0-py3-none-any.whl", out.getvalue())


def keep(name, file, data):
    files[f"/files/{file}"] = data
    files[f"/simple/{name}/"] = f'<a href="../../files/{file}">{file}</a>'.encode()


def tgz(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, what in members.items():
            entry = tarfile.TarInfo(name)
            data = b""
            if isinstance(what, str):
                data = what.encode()
                entry.size = len(data)
            else:
                for key, value in what.items():
                    setattr(entry, key, value)
            t.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def package(name, members, **more):
    about = {"name": name, "version": "1.0.0", "main": "main.js", **more}
    files[f"/npm/{name}.tgz"] = tgz({"package/package.json": json.dumps(about), **members})


CODE = "SAYS = 'ours'\nSET = {'a', 'b', 'c', 'd'}\n\n\ndef f(x):\n    return x in {'p', 'q', 'r', 's'}\n"
wheel("ours", {"ours/__init__.py": CODE, "ours/data": "x" * 100000, "ours/__pycache__/old.cpython-311.pyc": "no",
               "ours-1.0.dist-info/entry_points.txt": "[console_scripts]\nours = ours:f\n",
               "evil.pth": "import os; os.abort()\n"})
wheel("under", {"under.py": "import ours\nSAYS = ours.SAYS\n", "bad.py": "print 1\n"})
wheel("setuid", {"setuid/__init__.py": "", "setuid/tool": "#!/bin/sh\n"}, 0o6777)
wheel("linked", {"linked/__init__.py": "", "linked/passwd": ("/etc/passwd",)})
wheel("above", {"../../../above.py": "x = 1\n"})
wheel("absolute", {"/tmp/absolute.py": "x = 1\n"})
wheel("control", {"control/a\x1b[1mb": ""})
wheel("many", {f"many/{i}": "" for i in range(FLOOD)})
keep("source", "source-1.0.tar.gz", tgz({
    "source-1.0/setup.py": "open('/tmp/source.ran', 'w')\nfrom setuptools import setup\nsetup(name='source', version='1.0')\n",
    "source-1.0/PKG-INFO": "Metadata-Version: 1.0\nName: source\nVersion: 1.0\n"}))

SCRIPTS = {n: "touch ran" for n in ("preinstall", "install", "postinstall", "prepare")}
package("ours", {"package/main.js": "exports.says = require('under').says;\n", "package/bin.js": "#!/usr/bin/env node\n"},
        scripts=SCRIPTS, bin={"ours": "bin.js"}, dependencies={"under": "1.0.0"})
package("under", {"package/main.js": "exports.says = 'under ours';\n"})
package("hostile", {
    "package/../../above.js": "1", "/absolute.js": "1", "package/../../../../above.js": "1",
    "package/link": {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
    "package/hard": {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
    "package/device": {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3},
    "package/fifo": {"type": tarfile.FIFOTYPE},
    "package/main.js": {"mode": 0o6777}})


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path.startswith("/stall/"):
            threading.Event().wait()
        data = files.get(self.path.removeprefix("/cut"))
        self.send_response(500 if self.path.startswith("/broken/") else 200 if data is not None else 404)
        if self.path.startswith("/simple/"):
            self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        self.wfile.write((data or b"")[:50 if self.path.startswith("/cut/") else None])

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(json.dumps({
    "url": f"http://127.0.0.1:{server.server_port}",
    "sha256": {path.split("/")[-1].split("-")[0]: hashlib.sha256(data).hexdigest()
               for path, data in files.items() if path.startswith("/files/")},
    "sha512": {path.split("/")[-1][:-4]: base64.b64encode(hashlib.sha512(data).digest()).decode()
               for path, data in files.items() if path.startswith("/npm/")}}), flush=True)
server.serve_forever()
