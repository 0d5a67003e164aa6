"""A server of S3 in a thread of the tests: moto's, one request after the other, with faults on demand.

Moto looks at If-None-Match and If-Match, but another request may fall between its look and its write: of 250
races of eight writers, in threads that took turns very often, 5 had two winners or none. So its requests are
serialised here.
"""

import hashlib
import io
import logging
import socket
import threading

import obstore
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from obstore.store import S3Store
from werkzeug.serving import make_server

BUCKET = "bucket"
_SLOW_DOWN = (
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)


class S3Server:
    """Listens on a port of this machine.

    ``fault(method, key)`` says for each request what goes wrong, None for nothing: "throttled" (503, nothing is
    done), "cut" (the connection is lost before it is done), "lost" (after that), "half" (half of what is written
    arrives, and the connection is lost), "refused" (403), "blind" (conditions are passed over).
    """

    def __init__(self):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.application = DomainDispatcherApplication(create_backend_app)
        self.alone, self.fault = threading.Lock(), lambda method, key: None
        self.written, self.faults = {}, []
        self.server = make_server("127.0.0.1", 0, self.answer, threaded=True)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.settings = {
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.address,
        }
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, environ, start_response):
        method, key = environ["REQUEST_METHOD"], environ["PATH_INFO"].removeprefix(f"/{BUCKET}/")
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        fault = self.fault(method, key)
        if fault in ("half", "lost") and method != "PUT":
            fault = "cut"
        if fault:
            self.faults.append(fault)
        if fault == "throttled":
            start_response("503 Slow Down", [("Content-Type", "application/xml")])
            return [_SLOW_DOWN]
        if fault == "refused":
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>AccessDenied</Code></Error>"]
        if fault == "half":
            body = body[: length // 2]
        if fault == "blind":
            environ.pop("HTTP_IF_NONE_MATCH", None)
        environ |= {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        if fault == "cut":
            answer = []
        else:
            with self.alone:
                status = []

                def begun(line, headers, exc_info=None):
                    status.append((line, headers))
                    return lambda data: None

                answer = [b"".join(self.application(environ, begun))]
                ((line, headers),) = status
                if method == "PUT" and line.startswith("200") and fault != "half":
                    self.written.setdefault(key, []).append(hashlib.sha256(body).hexdigest())
        if fault in ("cut", "lost", "half"):
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            raise ConnectionError("the connection is cut on purpose")
        start_response(line, headers)
        return answer

    def client(self, prefix=None):
        return S3Store(BUCKET, prefix=prefix, client_options={"allow_http": True})

    def contents(self, name):
        """Every key of a store with its bytes, as `small_sweeps.contents` has those of a folder."""
        client = self.client(name)
        keys = [entry["path"] for page in obstore.list(client) for entry in page]
        return {key: bytes(obstore.get(client, key).bytes()) for key in keys}
