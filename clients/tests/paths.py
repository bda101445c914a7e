"""Goal: a guard in Python, held against the corpus of paths. Run: paths.py PATH_TO_STANDIN"""

import errno
import json
import os
import subprocess
import sys
import tempfile


def lexical(roots, path):
    """The guard: may a tool be let at this path? By the text."""
    roots = [root for root in roots if root.startswith("/")]
    if not path.startswith("/") and not roots:
        return False
    return inside(roots, folded(os.path.join(roots[0], path) if roots else path))


def realpath(roots, path):
    """The same by where it leads: for who folds `..` first, and for who follows links first."""
    roots = [root for root in roots if root.startswith("/")]
    if "\0" in path or not roots:
        return False
    whole = os.path.join(roots[0], path)
    real = [leads_to(root) for root in roots]
    readings = [leads_to(whole), leads_to(folded(whole))]
    return all(inside(filter(None, real), target) for target in readings if target) and any(readings)


def folded(path):
    return os.path.normpath(path)


def inside(roots, target):
    return any(os.path.commonpath([folded(root), target]) == folded(root) for root in roots)


def leads_to(path):
    """None where it leads nowhere, and `/` where nobody can see. (`os.path.realpath` goes on where it can't see.)"""
    names, real, followed = path.split("/")[::-1], "/", 0
    while names:
        name = names.pop()
        real = os.path.dirname(real) if name == ".." else os.path.normpath(os.path.join(real, name))
        try:
            target = os.readlink(real)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return None if len(os.fsencode(name)) > 255 else "/"
            if error.errno not in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
                return None
            continue
        followed += 1
        if followed > 40 or real.startswith("/proc/"):
            return None if followed > 40 else "/"
        real = "/" if target.startswith("/") else os.path.dirname(real)
        names += target.split("/")[::-1]
    return real


def wrong(standin, guard, *more):
    """The cases that a guard gets wrong."""
    policy = guard.__name__
    line = [standin, "corpus", "paths", "--policy", policy, "--format", "json", *more]
    corpus = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    for case in corpus["cases"]:
        asked = case["asked"][policy]
        if asked["verdict"] == "not-applicable":
            continue
        if guard(asked["roots"], asked["path"]) != (asked["verdict"] == "inside"):
            yield f"{case['name']} is {asked['verdict']}: {case['why']}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = [*wrong(sys.argv[1], lexical), *wrong(sys.argv[1], realpath, "--make", folder)]
    sys.exit("\n".join(found) or None)
