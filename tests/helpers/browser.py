"""A real Chromium that looks at pages, for the tests in ``tests/web`` and pictures in ``docs``."""

import base64
import io
import os
import shutil
import tempfile
from contextlib import contextmanager

#: Nothing that a browser does on its own: no first run, no updates, no talk with anybody.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

#: Width and height of the windows that pages are looked at in.
PHONE, TABLET, DESKTOP = (390, 844), (820, 1180), (1280, 900)


def find(*names):
    """Return the first program there is of some names, or None."""
    return next(filter(None, map(shutil.which, names)), None)


def find_chromium():
    """Return Chromium and its driver; None for what is not there."""
    chromium = os.environ.get("CHROMIUM") or find("chromium", "chromium-browser", "google-chrome")
    return chromium, find("chromedriver")


@contextmanager
def open_browser():
    """Start Chromium with a new profile, and end it."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    chromium, driver = find_chromium()
    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        browser = webdriver.Chrome(options=options, service=Service(driver))
        try:
            yield browser
        finally:
            browser.quit()


def look_like(browser, size, *, dark=False, media=""):
    """Set the size of the window, the reader's colours and the medium."""
    width, height = size
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})


def photograph(browser, size, height=None):
    """Return a PNG of the page from its top, as high as is asked for or as it is."""
    if height is None:
        height = browser.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": size[0], "height": height, "scale": 1}
    taken = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    return base64.b64decode(taken["data"])


def save_picture(png, path):
    """Write a PNG of a page with few colours, so that it is small; return its size in bytes."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    # The coverage of colours, not their frequency: a mark that matters may be small.
    few = picture.quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
    return path.stat().st_size
