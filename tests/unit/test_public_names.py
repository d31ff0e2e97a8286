"""The stable interface: every name is there, and contact is loaded only when asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import taction


@pytest.mark.parametrize("name", taction.__all__)
def test_every_name_is_there(name):
    assert getattr(taction, name) is not None and name in dir(taction)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        taction.nonsense  # noqa: B018


def test_contact_is_loaded_later():
    check = "print('taction.solvers' in sys.modules)"
    code = f"import taction, sys; {check}; taction.solve; {check}"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "True"]
