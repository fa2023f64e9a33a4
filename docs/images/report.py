"""Take the picture of a report: `python docs/images/report.py PAGE` writes report.png beside this file.

PAGE is a report of theories, as `python examples/run.py family` makes one in examples/family/build/run.
Needs selenium, Pillow, chromium and chromedriver.
"""

from __future__ import annotations

import base64
import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from selenium import webdriver

#: The first target's rules, with all that lies above them in its part of the page.
_CLIP = """
const top = document.querySelector('.faults').getBoundingClientRect();
const end = document.querySelector('.program').getBoundingClientRect();
return {x: top.left - 8, y: top.top - 8 + scrollY, width: top.width + 16, height: end.bottom - top.top + 16};
"""


def main(page: Path) -> None:
    """Open the page, choose the second prediction of the first rule, and take the picture."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=900,1400"):
        options.add_argument(flag)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        metrics = {"width": 900, "height": 1400, "deviceScaleFactor": 2, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(page.resolve().as_uri())
        # A scroll bar has a width where the page is measured, and none where the picture is taken.
        browser.execute_script("document.documentElement.style.overflow = 'hidden'")
        browser.execute_script("document.querySelectorAll('.rows button')[1].click()")
        clip = browser.execute_script(_CLIP) | {"scale": 1}
        taken = browser.execute_cdp_cmd(
            "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
        )
    picture = Image.open(io.BytesIO(base64.b64decode(taken["data"])))
    picture.quantize(64).save(Path(__file__).parent / "report.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
