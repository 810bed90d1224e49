"""The routes of logging in and out."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from penstock.gateway.errors import GatewayError
from penstock.gateway.gateway import Gateway
from penstock.gateway.security.login.page import (
    LOGIN,
    SCRIPT,
    STYLE,
    login_page,
    login_script,
    login_style,
)
from penstock.gateway.security.token import TokenCheck
from penstock.gateway.security.token_file import TOKEN_CHARACTERS_MAX


class Login(BaseModel):
    """What somebody who logs in knows."""

    token: str = Field(max_length=TOKEN_CHARACTERS_MAX)


def login_router(gateway: Gateway) -> APIRouter:
    """The routes of logging in and out."""
    routes = APIRouter(include_in_schema=False)
    check = TokenCheck(gateway.settings.token)
    routes.get(LOGIN)(lambda: login_page())
    routes.get(SCRIPT)(login_script)
    routes.get(STYLE)(login_style)

    @routes.post(LOGIN)
    def log_in(request: Request, login: Login) -> Response:
        """Exchange the token for a cookie."""
        if not check.accepts(login.token.strip()):
            raise GatewayError(401, "That is not this gateway's token.", error_code=40101)
        return Response(status_code=204, headers={"Set-Cookie": check.set_cookie(_port(request))})

    @routes.post("/logout")
    def log_out(request: Request) -> Response:
        """Take the cookie back."""
        return Response(status_code=204, headers={"Set-Cookie": check.end_cookie(_port(request))})

    return routes


def _port(request: Request) -> int:
    return int(request.scope["server"][1])
