"""A real browser for tests of pages: headless Chromium, driven by chromedriver over the WebDriver protocol."""

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import pytest

MISSING = (
    "needs chromium and chromedriver on the path (Debian: apt-get install chromium chromium-driver)"
)


def found():
    return shutil.which("chromedriver") and (
        shutil.which("chromium") or shutil.which("chromium-browser")
    )


class Browser:
    """One window; `close` ends it."""

    def __init__(self, width=1280, height=1000, dark=False):
        if not found():
            pytest.skip(MISSING)
        self.driver = subprocess.Popen(
            [shutil.which("chromedriver"), "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.root = self.session = None
        for line in self.driver.stdout:
            if port := re.search(r"started successfully on port (\d+)", line):
                self.root = f"http://127.0.0.1:{port[1]}"
                break
        arguments = [
            *("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            *(["--force-dark-mode"] if dark else []),
            f"--window-size={width},{height}",
        ]
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        if not shutil.which("chromium"):
            wanted["goog:chromeOptions"]["binary"] = shutil.which("chromium-browser")
        reply = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{reply['sessionId']}"
        self.size = width, height
        self._resize(width, height, 1)
        if dark:
            features = [{"name": "prefers-color-scheme", "value": "dark"}]
            self.command("Emulation.setEmulatedMedia", features=features)

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        path = f"{self.session}/goog/cdp/execute"
        return self._send("POST", path, {"cmd": name, "params": parameters})

    def _resize(self, width, height, scale):
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 600,
        )

    @contextlib.contextmanager
    def as_a_phone(self):
        """The window of a phone for a while, in which the page must not be wider than the screen."""
        self._resize(360, 740, 2)
        try:
            self.settled()
            assert self.value("document.documentElement.scrollWidth") <= 360
            yield
        finally:
            self._resize(*self.size, 1)

    def open(self, address):
        """Open a page and wait until it says that it is ready."""
        self._send("POST", f"{self.session}/url", {"url": address})
        self.until("document.documentElement.dataset.ready === 'true'")

    def value(self, script, *arguments):
        body = {"script": f"return ({script});", "args": list(arguments)}
        return self._send("POST", f"{self.session}/execute/sync", body)

    def value_later(self, script, *arguments):
        """What a script gives to the function that it gets behind the arguments."""
        body = {"script": script, "args": list(arguments)}
        return self._send("POST", f"{self.session}/execute/async", body)

    def run(self, script):
        self._send("POST", f"{self.session}/execute/sync", {"script": script, "args": []})
        self.settled()

    def settled(self):
        """Wait for two frames, so that what was changed is drawn."""
        script = (
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
        )
        self._send("POST", f"{self.session}/execute/async", {"script": script, "args": []})

    def until(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not self.value(condition):
            assert time.monotonic() < end, f"{condition} did not come true: {self.errors()}"
            time.sleep(0.02)

    def press(self, selector, *keys):
        """Give the focus to an element and press keys, by their names in the DOM."""
        self.value("document.querySelector(arguments[0]).focus()", selector)
        for key in keys:
            for kind in ("keyDown", "keyUp"):
                text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
                self.command("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)
        self.settled()

    def click(self, selector, x=None, y=None, count=1):
        """Click into an element, at a share of its width and height, by default its middle."""
        self.value(
            "document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector
        )
        box = self.value(
            "(({x, y, width, height}) => [x, y, width, height])"
            "(document.querySelector(arguments[0]).getBoundingClientRect())",
            selector,
        )
        place = {
            "x": box[0] + box[2] * (0.5 if x is None else x),
            "y": box[1] + box[3] * (0.5 if y is None else y),
        }
        for kind in ("mousePressed", "mouseReleased"):
            self.command(
                "Input.dispatchMouseEvent", type=kind, button="left", clickCount=count, **place
            )
        self.settled()

    def text(self, selector):
        return self.value("document.querySelector(arguments[0]).textContent", selector)

    def errors(self):
        """What the console has said of errors and warnings since this was asked last."""
        log = self._send("POST", f"{self.session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, path):
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"]}
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        try:
            if self.session:
                self._send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(10)
            self.driver.stdout.close()
