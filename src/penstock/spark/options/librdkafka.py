"""The same security for librdkafka, which writes and reads what is no table, such as progress."""

from collections.abc import Mapping

from penstock.spark.options.definition import EVERYWHERE
from penstock.spark.options.parsing import connecting_options, parse_options
from penstock.spark.options.security_settings import security_settings
from penstock.wire_client.security.security import PLAINTEXT, Security


def librdkafka_settings(options: Mapping[str, str]) -> dict[str, str]:
    """What options of the data source say of security, by librdkafka's names; nothing for plain ones."""
    return settings_for_librdkafka(security_settings(parse_options(connecting_options(options), EVERYWHERE)))


def settings_for_librdkafka(security: Security) -> dict[str, str]:
    """The same of security that is put together already."""
    if security == PLAINTEXT:
        return {}
    algorithm = "https" if security.checks_host_name else "none"
    settings = {
        "security.protocol": str(security.protocol),
        "ssl.endpoint.identification.algorithm": algorithm,
        "ssl.ca.pem": security.trusted,
    }
    if security.login is not None:
        settings["sasl.mechanism"] = str(security.login.mechanism)
        settings["sasl.username"] = security.login.username
        settings["sasl.password"] = security.login.password
    if security.certificate is not None:
        settings["ssl.certificate.pem"] = security.certificate.chain
        settings["ssl.key.pem"] = security.certificate.key
        settings["ssl.key.password"] = security.certificate.key_password
    return {name: value for name, value in settings.items() if value is not None}
