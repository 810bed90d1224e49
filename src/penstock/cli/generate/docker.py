"""The image: how it is built, and what of the sources it is built from."""

from penstock.cli.generate.filling import filled
from penstock.cli.generate.health import BROKER_HEALTH
from penstock.cli.generate.plan import Plan


def docker_files(plan: Plan) -> dict[str, str]:
    """The image is the same for any number of brokers."""
    return {
        "docker/Dockerfile": filled("docker/Dockerfile", {"broker_health": BROKER_HEALTH}),
        "docker/Dockerfile.dockerignore": filled("docker/Dockerfile.dockerignore"),
    }
