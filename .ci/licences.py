"""The licences of all packages that minitape, its tests, docs and sites bring along: ``python .ci/licences.py`` in an
environment that has them.

Prints a line for each, and ends with an error where one says something that is not known here, or nothing.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

# What may be used, passed on and changed without conditions on other software; LGPL and MPL ask that only of their own
# files.
KNOWN = {
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "BSD",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "Apache-2.0",
    "ISC",
    "PSF-2.0",
    "Python-2.0",
    "CNRI-Python",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "HPND",
    "MPL-2.0",
    "LGPL-2.1-or-later",
    "BSL-1.0",
    "LLVM-exception",
    "GCC-exception-3.1",
}
# how packages without an SPDX expression say it, in their classifiers or in free text
SPELT = {
    "mit": "MIT",
    "mit license": "MIT",
    "the mit license": "MIT",
    "bsd": "BSD",
    "bsd license": "BSD",
    "new bsd": "BSD-3-Clause",
    "new bsd license": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "bsd-3-clause license": "BSD-3-Clause",
    "bsd-2-clause license": "BSD-2-Clause",
    "apache software license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache": "Apache-2.0",
    "isc license (iscl)": "ISC",
    "python software foundation license": "PSF-2.0",
    "psf": "PSF-2.0",
    "psfl": "PSF-2.0",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "the unlicense (unlicense)": "Unlicense",
}
LOOKED_UP = {  # packages whose metadata do not say it clearly: what their licence files say
    # its metadata hold the whole text, with those of what its wheels bundle (OpenBLAS, libgfortran)
    "scipy": "BSD-3-Clause",
    # in the public domain, with some files under BSD's; what is under the GPL is not in its wheel
    "docutils": "BSD-2-Clause",
    "pkginfo": "MIT",
}


def licences_of(package: Distribution) -> set[str]:
    """The licences that a package says it has, by SPDX names where they are known."""
    about = package.metadata
    name = about["Name"].lower()
    if name in LOOKED_UP:
        return {LOOKED_UP[name]}
    if expression := about.get("License-Expression"):
        return set(re.split(r"\s+(?:AND|OR|WITH)\s+|[()\s]+", expression)) - {""}
    classifiers = [
        c.rpartition(" :: ")[2]
        for c in about.get_all("Classifier", [])
        if c.startswith("License :: ") and c.count("::") > 1
    ]
    texts = classifiers or [about.get("License") or ""]
    return {SPELT.get(text.strip().lower(), text.strip().partition("\n")[0][:60]) for text in texts}


def needed(
    name: str, extras: tuple[str, ...], found: dict[str, Distribution], seen: set[tuple[str, tuple[str, ...]]]
) -> None:
    """Collects an installed package and all that it needs here."""
    try:
        package = distribution(name)
    except PackageNotFoundError:  # for another system, or not needed by what is installed
        return
    own = package.metadata["Name"].lower()
    if (own, extras) in seen:
        return
    seen.add((own, extras))
    found[own] = package
    for text in package.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            needed(requirement.name, tuple(sorted(requirement.extras)), found, seen)


def main() -> int:
    """Prints the licences of all packages, and those that are not known."""
    found: dict[str, Distribution] = {}
    needed("minitape", ("lab", "test", "docs", "lite", "class"), found, set())
    unknown = []
    for name, package in sorted(found.items()):
        licences = licences_of(package)
        print(f"{name:32} {package.version:14} {', '.join(sorted(licences)) or 'says nothing'}")
        if not licences or not licences <= KNOWN:
            unknown.append(name)
    if len(found) < 2:
        sys.exit("minitape is not installed here")
    if unknown:
        print(
            f"\nNot known to .ci/licences.py, or not allowed: {', '.join(unknown)}. Read the licence, then add it "
            "there.",
            file=sys.stderr,
        )
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
