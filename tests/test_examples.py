"""The scripts in examples/ run and print what they promise; `test_demo.py` tests the demo."""

import subprocess
import sys

from tests.doc_blocks import ROOT


def test_boosted_c50_is_compared_on_four_tables():
    command = [sys.executable, "-X", "utf8", str(ROOT / "examples" / "boosted_c50.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]
    assert {row[0] for row in rows} == {"breast cancer", "wine", "digits", "clinic"}
    assert {"C5.0 rules, one", "C5.0 rules, boosted", "C5.0 trees, boosted"} <= {row[1] for row in rows}
    assert all(50 < float(row[2].removesuffix(" %")) <= 100 for row in rows if row[0] != "digits")
    sizes = {(row[0], row[1]): int(row[3].split()[0].replace(",", "")) for row in rows}
    assert sizes["digits", "C5.0 rules, boosted"] > sizes["digits", "C5.0 rules, one"] > 5


def test_house_prices_are_explained_by_a_few_rules(tmp_path):
    command = [sys.executable, "-X", "utf8", str(ROOT / "examples" / "house_prices.py"), "--quick"]
    command += ["--page", str(tmp_path / "prices.html")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    assert "6 rules for price; start at" in done.stdout
    assert "with 3 linear terms" in done.stdout
    assert "6 rules" in (tmp_path / "prices.html").read_text(encoding="utf-8")
    assert float(done.stdout.rsplit("is ", 1)[1].rstrip(".\n")) > 0.9
