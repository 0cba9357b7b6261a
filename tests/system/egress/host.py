# SPDX-License-Identifier: Apache-2.0
"""host.py ADDRESS PEM [--old] - a host of HTTPS for tests of paddock-egress: prints its
port, and answers by paths. --old: TLS 1.1 at most."""
import gzip
import http.server
import ssl
import sys
import warnings


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while n := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(n))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, body, **fields):
        self.send_response(200)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        body = self.body()
        seen = f"{self.command} {self.path}\n{self.headers}".encode() + body
        path = self.path.split("?")[0]
        if path == "/pieces":  # the same in chunks of three bytes
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(0, len(seen), 3):
                part = seen[i:i + 3]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        elif path == "/gzip":
            self.answer(gzip.compress(seen), Content_Encoding="gzip")
        elif path == "/head":  # the credentials come back in fields
            self.answer(b"x", X_Echo=self.headers.get("Authorization") or "-",
                        Set_Cookie="session=1")
        elif path == "/bytes":
            n = int(self.path.split("?")[1])
            self.send_response(200)
            self.send_header("Content-Length", str(n))
            self.end_headers()
            part = b"x" * 65536
            while n > 0:
                n -= self.wfile.write(part[:n])
        elif path == "/count":
            self.answer(str(len(body)).encode())
        elif path == "/digest":  # of the credentials, which no masking changes
            import hashlib
            said = self.headers.get("Authorization") or self.path.partition("?")[2]
            self.answer(hashlib.sha256(said.encode()).hexdigest().encode())
        elif path == "/forms":  # as a host might write a secret elsewhere
            import base64
            import urllib.parse
            key = (self.headers.get("Authorization") or "").split(" ")[-1].encode()
            forms = [base64.b64encode(b"x" * i + key) for i in range(3)]
            forms += [key.hex().encode(), urllib.parse.quote(key, safe="").encode(), key]
            self.answer(b"\n".join(forms))
        elif path == "/close":
            self.answer(seen, Connection="close")
            self.close_connection = True
        else:
            self.answer(seen)

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do_PATCH = serve


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


server = Server((sys.argv[1], 0), Host)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2])
if "--old" in sys.argv:
    warnings.simplefilter("ignore")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
