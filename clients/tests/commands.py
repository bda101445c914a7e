"""Goal: a list of allowed commands in Python, held against the corpus. Run: commands.py PATH_TO_STANDIN"""

import json
import subprocess
import sys
import unittest


class AllowList:
    """What the person has allowed: a line runs without a question when it stands in the list, letter by letter."""

    def __init__(self, entries):
        self.entries = set(entries or ())

    def allows(self, line):
        return line in self.entries

    def chosen(self, line, choice):
        if choice == "always":
            self.entries.add(line)


class HeldAgainstTheCorpus(unittest.TestCase):
    def test_every_line(self):
        for case in corpus("commands", "--policy", "exact")["cases"]:
            allow_list = AllowList(case["allow"])
            for before in case["before"]:
                allow_list.chosen(before["line"], before["choice"])
            verdict = case["verdicts"]["exact"]["verdict"]
            if verdict != "not-applicable":
                with self.subTest(case["name"], why=case["why"]):
                    self.assertEqual(allow_list.allows(case["line"]), verdict == "allow")


def corpus(name, *more):
    line = [STANDIN, "corpus", name, "--format", "json", *more]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    STANDIN = sys.argv.pop(1)
    unittest.main()
