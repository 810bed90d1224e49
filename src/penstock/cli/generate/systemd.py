"""Units for machines without containers: a broker, and a gateway."""

from penstock.cli.generate.filling import filled, template
from penstock.cli.generate.plan import Plan

_NAMES = ("penstock.service", "penstock-gateway.service", "penstock.sysusers.conf", "penstock.properties")


def systemd_files(plan: Plan) -> dict[str, str]:
    """The same on every machine, but for the lines of ``penstock.properties`` that say whom to join."""
    words = {"hardening": template("systemd/hardening.conf")}
    return {f"systemd/{name}": filled(f"systemd/{name}", words) for name in _NAMES}
