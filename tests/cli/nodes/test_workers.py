import pytest

from penstock.cli.nodes.workers import _own_words
from penstock.config.sources import load_broker_config


@pytest.mark.parametrize(
    ("named", "second"),
    [
        ("127.0.0.1:19092", "metrics.listener=127.0.0.1:19093"),
        ("[::1]:19092", "metrics.listener=[::1]:19093"),
        ("127.0.0.1:0", "metrics.listener=127.0.0.1:0"),
    ],
)
def test_port_of_metrics_is_another_for_each_worker(named: str, second: str) -> None:
    config = load_broker_config(flags={"metrics.listener": named})
    assert second in _own_words(config, 1)
    assert not [word for word in _own_words(config, 0) if word.startswith("metrics.")]


@pytest.mark.parametrize("word", ["auto", "off"])
def test_word_for_metrics_holds_for_all_workers(word: str) -> None:
    config = load_broker_config(flags={"metrics.listener": word})
    assert not [each for each in _own_words(config, 1) if each.startswith("metrics.")]
