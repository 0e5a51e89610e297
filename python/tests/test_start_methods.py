# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import types
import unittest

from feedrate.source import Site
from feedrate.start_methods import why_fixed, why_not_importable


class Importable(unittest.TestCase):
    def said(self, text, name="train.py"):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, name)
            with open(file, "w") as out:
                out.write(text)
            return why_not_importable(types.SimpleNamespace(__file__=file))

    def test_is_a_script_that_runs_nothing_when_it_is_imported(self):
        # Bug: workers that each train the whole script, and write its checkpoints.
        self.assertIsNone(self.said("def main(): pass\nif __name__ == '__main__':\n    main()\n"))
        self.assertIsNone(self.said("if '__main__' == __name__: pass\n"))
        self.assertIn("it has no if __name__", self.said("train()\n"))
        self.assertIn("it has no if __name__", self.said("if debug: print(1)\n"))

    def test_is_no_command_of_the_interpreter_and_no_other_file(self):
        # Bug: a crash where there is no file, or none of Python's.
        self.assertIn("no file of Python's", why_not_importable(types.SimpleNamespace()))
        self.assertIn("no file of Python's", why_not_importable(types.SimpleNamespace(__file__=None)))
        self.assertIn("no file of Python's", why_not_importable(types.SimpleNamespace(__file__="/nowhere.py")))
        self.assertIn("no file of Python's", self.said("\0PK", "app.pyz"))


class Fixed(unittest.TestCase):
    def test_is_what_a_library_has_no_setting_for(self):
        # Bug: TrainingArguments(multiprocessing_context=...), which transformers refuses.
        self.assertIsNone(why_fixed(None))
        self.assertIsNone(why_fixed(Site("train.py", 1)))
        self.assertIn("TrainingArguments", why_fixed(Site("trainer.py", 1, maker="transformers")))


if __name__ == "__main__":
    unittest.main()
