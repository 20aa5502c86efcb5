"""README is short, and stored tables are of the experiments as they are now."""

import pages
import stored
from soids.experiments.shipped import shipped
from soids.simulation.experiment import read_experiment


def test_readme_fits_on_a_page_and_a_half():
    assert len((pages.ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_a_stored_experiment_has_the_rows_of_its_file():
    compared = 0
    for name, path in shipped().items():
        stem = name.rpartition("/")[2]
        table = stored.find(pages.results(pages.ROOT), stem)
        if table is None or table.suffix != ".csv":  # or what a command printed
            continue
        labels = {p.label for ps in read_experiment(path, full=True).players for p in ps}
        rows = {row["policy"] for row in stored.read(table).rows}
        assert rows <= labels, f"{table.name} is of another {path.name}: measure it again"
        compared += 1
    assert compared > 5
