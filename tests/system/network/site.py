# SPDX-License-Identifier: Apache-2.0
"""site.py ADDRESS PEM FOLDER - a host of HTTPS for clients that people use: repositories of
git in FOLDER, an index for pip, one for npm, websockets, and an echo. Prints its port."""
import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import ssl
import subprocess
import sys
import tarfile
import zipfile

NAME = "paddock_tiny"


def wheel():
    out = io.BytesIO()
    info = f"{NAME}-1.0.dist-info"
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(f"{NAME}.py", "said = 'from the index'\n")
        z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(f"{info}/RECORD", f"{NAME}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return out.getvalue()


def package():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as t:
        for name, text in (("package.json", json.dumps({"name": NAME, "version": "1.0.0"})),
                           ("index.js", "module.exports = 'from the registry';\n")):
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(text)
            t.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


FILES = {"wheel": wheel(), "package": package()}


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, body, kind="text/plain"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while n := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(n))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def git(self, path, query, body):
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        done = subprocess.run(["git", "http-backend"], input=body, stdout=subprocess.PIPE, env={
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": sys.argv[3], "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1", "REMOTE_USER": "tests", "REMOTE_ADDR": "127.0.0.1",
            "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "", "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or ""})
        head, said = done.stdout.split(b"\r\n\r\n", 1)
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = [value for name, value in fields if name == "Status"]
        self.send_response(int(status[0].split()[0]) if status else 200)
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def websocket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        head = self.rfile.read(6)  # a short text from a client: masked
        said = bytes(b ^ head[2 + i % 4] for i, b in enumerate(self.rfile.read(head[1] & 127)))
        self.wfile.write(bytes([0x81, len(said)]) + said.upper())

    def serve(self):
        path, _, query = self.path.partition("?")
        body = self.body()
        here = "https://" + self.headers["Host"]
        if path.startswith("/acme/"):
            self.git(path, query, body)
        elif path.startswith("/simple/"):
            self.answer(f'<a href="{here}/files/{NAME}-1.0-py3-none-any.whl">x</a>'.encode(), "text/html")
        elif path.startswith("/files/"):
            self.answer(FILES["wheel"], "application/octet-stream")
        elif path == f"/npm/{NAME}":
            version = {"name": NAME, "version": "1.0.0", "dist": {
                "tarball": f"{here}/npm/{NAME}/-/{NAME}-1.0.0.tgz",
                "shasum": hashlib.sha1(FILES["package"]).hexdigest()}}
            self.answer(json.dumps({"name": NAME, "dist-tags": {"latest": "1.0.0"},
                                    "versions": {"1.0.0": version}}).encode(), "application/json")
        elif path.startswith("/npm/"):
            self.answer(FILES["package"], "application/octet-stream")
        elif path == "/socket":
            self.websocket()
        else:
            self.answer(f"{self.command} {self.path} {len(body)}".encode())

    do_GET = do_POST = do_PUT = serve


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


server = Server((sys.argv[1], 0), Site)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
