"""A key server with one RSA key, and tokens signed with it."""
import base64
import http.server
import json
import threading
import time

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

KEY_ID = "test-key"
EVERY_PRIVILEGE = [f"privilege:{name}" for name in (
    "GetNonLocationHistory", "GetLocationHistory", "GetCurrentLocation", "GetApproximateLocation", "GetVINCredential", "GetRawData")]


def _base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class KeyServer:
    """Serves the key set on a free loopback port while the context lasts.

        with KeyServer() as keys:
            settings.update(keys.settings)
            headers = {"authorization": "Bearer " + keys.token(asset=subject, permissions=EVERY_PRIVILEGE)}
    """

    def __init__(self):
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        numbers = self._key.public_key().public_numbers()
        key_set = json.dumps({"keys": [{
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID,
            "n": _base64url(numbers.n.to_bytes(256, "big")), "e": _base64url(numbers.e.to_bytes(3, "big")),
        }]}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(key_set)))
                self.end_headers()
                self.wfile.write(key_set)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def settings(self):
        return {"TOKEN_EXCHANGE_ISSUER_URL": self.issuer, "TOKEN_EXCHANGE_JWK_KEY_SET_URL": f"{self.issuer}/keys"}

    def token(self, **claims):
        now = int(time.time())
        body = {"iss": self.issuer, "aud": ["dimo.zone"], "sub": "0x" + "1" * 40, "iat": now - 1, "exp": now + 3600, **claims}
        signed = ".".join(_base64url(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": KEY_ID, "typ": "JWT"}, body))
        return f"{signed}.{_base64url(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"
