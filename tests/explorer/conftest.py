"""The page of an arm as a file in a browser."""

import itertools

import pytest

from tests.support.browser import Browser


@pytest.fixture(scope="module")
def window():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def shown(window, tmp_path):
    """Opens the page of an arm as a file, at an address behind its #; the console stays silent."""

    numbers = itertools.count()

    def opened(text, address=""):
        path = (
            tmp_path / f"arm_{next(numbers)}.html"
        )  # of one name another address would load nothing
        path.write_text(text, encoding="utf-8")
        window.open(f"{path.as_uri()}#{address}")
        return window

    yield opened
    assert window.errors() == []
