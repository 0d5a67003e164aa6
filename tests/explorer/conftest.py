"""The page of an arm as a file in a browser."""

import pytest
from browser import Browser


@pytest.fixture(scope="module")
def window():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def shown(window, tmp_path):
    """Opens the page of an arm as a file, at an address behind its #; the console stays silent."""

    def opened(text, address=""):
        path = tmp_path / "arm.html"
        path.write_text(text, encoding="utf-8")
        window._send("POST", f"{window.session}/url", {"url": "about:blank"})
        window.open(f"{path.as_uri()}#{address}")
        return window

    yield opened
    assert window.errors() == []
