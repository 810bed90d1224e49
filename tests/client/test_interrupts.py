"""Ctrl-C while librdkafka's binding calls us."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.client.error_mapping import translated

FORGOTTEN = "<method 'flush' of 'cimpl.Producer' objects> returned NULL without setting an exception"


def raise_translated(error: SystemError, cause: BaseException | None = None) -> None:
    with translated("flush"):
        raise error from cause


def test_ctrl_c_that_the_binding_forgot_is_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt):
        raise_translated(SystemError(FORGOTTEN))


def test_ctrl_c_that_the_binding_made_a_cause_is_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt):
        raise_translated(SystemError("returned a result with an exception set"), KeyboardInterrupt())


def test_other_error_of_the_interpreter_stays_what_it_is() -> None:
    with pytest.raises(SystemError, match="with an exception set"):
        raise_translated(SystemError("returned a result with an exception set"), ValueError())


def test_thread_that_hears_no_ctrl_c_has_none() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(SystemError, match="without setting"):
        pool.submit(raise_translated, SystemError(FORGOTTEN)).result()
