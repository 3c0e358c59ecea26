"""Who may talk to the page's server: browsers of this machine that were given the token.

Every request is checked: the Host it was sent to, the Origin it comes from, the cookie. A page of
another site can neither read anything here nor cause anything.
"""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:{tiles}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_CHANGES = ("POST", "PUT", "PATCH", "DELETE")


class Guard:
    """Of one server, on one port."""

    def __init__(self, port: int, tiles: str = "") -> None:
        self.port, self.token = port, secrets.token_urlsafe(32)
        self._cookie = f"flexpress-control-{port}"  # cookies are shared by all ports of a host
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        place = urlsplit(tiles)
        source = f" {place.scheme}://{place.netloc}" if tiles else ""
        self.policy = POLICY.format(tiles=source)

    @property
    def address(self) -> str:
        """What to open first: the token is exchanged for a cookie."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def middleware(self) -> Middleware:
        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            fault = self._fault(request)
            if fault:
                return self._sealed(web.Response(status=403, text=f"{fault}\n"))
            if "token" in request.query and request.path == "/":
                return self._sealed(self._welcome())
            try:
                response = await handler(request)
            except web.HTTPException as error:
                response = web.Response(status=error.status, text=f"{error.reason}\n")
            return response if response.prepared else self._sealed(response)

        return check

    def _fault(self, request: web.Request) -> str:
        """Why a request is refused; empty if it is not."""
        if request.host not in self._hosts:
            return "this page is only at 127.0.0.1"
        origin = request.headers.get("Origin")
        needed = request.method in _CHANGES or "Upgrade" in request.headers
        if (origin is not None or needed) and origin != f"http://{request.host}":
            return "requests from other sites are refused"
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return "requests from other sites are refused"
        given = request.cookies.get(self._cookie, "")
        if request.path == "/" and request.method == "GET" and "token" in request.query:
            given = request.query["token"]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return "open the address that `flexpress control` printed: it has the token"
        return ""

    def _welcome(self) -> web.Response:
        """The cookie, and the page without the token in its address."""
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict", path="/")
        return response

    def _sealed(self, response: web.StreamResponse) -> web.StreamResponse:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Content-Security-Policy", self.policy)
        return response
