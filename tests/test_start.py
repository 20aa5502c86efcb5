import subprocess
import sys

SLOW = ("scipy.optimize", "scipy.signal", "scipy.stats", "matplotlib", "pandas", "distributed")


def test_the_import_leaves_out_what_is_slow_to_import_and_seldom_needed():
    code = "import sys, soids; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert not set(SLOW) & set(printed.stdout.decode().split())
