# SPDX-License-Identifier: Apache-2.0
"""Tests of feedrate.packed: arguments that a call is given by `**name`, followed into the dict."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from test_origin import EIGHT, Config, Folder, started_by_hydra  # noqa: E402

WORKERS = {"num_workers": 8}
PARSER = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("-j", "--workers", type=int, default=4)
        args = parser.parse_args()
        def make(rows, **given):
"""


class Followed(Folder):
    def make(self, body, changes=WORKERS):
        """The change of a function's loader; `body` are the lines of the function."""
        lines = "".join("            %s\n" % line for line in body.split("\n"))
        return self.told(PARSER + lines, ["-j", "4"], changes)

    def assert_option(self, told):
        self.assertEqual(told["options"], [{"words": ["-j", "4"], "given": ["-j", "8"]}])
        self.assertNotIn("not found", told["diff"])

    def assert_unfollowed(self, told, text):
        self.assertEqual(told["options"], [])
        self.assertIn("(Where the value of %s comes from was not found, so the call is changed.)" % text, told["diff"])

    def test_an_option_in_the_dict_is_found(self):
        # Bug: `-j 4` became no `-j 8`, but `**{**kwargs, "num_workers": 8}`, and nothing told of it.
        for body in ("kwargs = dict(num_workers=args.workers, pin_memory=True)\nDataLoader(rows, **kwargs)",
                     'kwargs: dict = {"num_workers": args.workers}\nDataLoader(rows, **kwargs)',
                     'DataLoader(rows, **{"num_workers": args.workers})',
                     "base = dict(num_workers=args.workers)\nDataLoader(rows, **{**base, 'pin_memory': True})"):
            told = self.make(body)
            self.assert_option(told)
            self.assertEqual(told["diff"], "")

    def test_other_keys_may_be_set_later(self):
        # Bug: timm's create_loader, which adds the batch and the sampler, was not followed.
        told = self.make("kwargs = dict(num_workers=args.workers)\nkwargs['batch_sampler'] = 1\n"
                         "kwargs.update(batch_size=4)\nkwargs.pop('persistent_workers')\nDataLoader(rows, **kwargs)")
        self.assert_option(told)

    def test_what_else_is_added_depends_on_the_workers_of_the_dict(self):
        # Bug: `-j 0` after the patch, which PyTorch refuses beside persistent_workers=True.
        told = self.make("kwargs = dict(num_workers=args.workers)\nDataLoader(rows, **kwargs)", EIGHT)
        self.assert_option(told)
        self.assertIn('**{**kwargs, "persistent_workers": kwargs["num_workers"] > 0}', told["diff"])

    def test_a_key_of_hydra_and_a_variable_are_found(self):
        # Bug: an edit of the call, where `data.workers=8` or `WORKERS=8` sets it.
        config = Config(data=Config("data", workers=4))
        with started_by_hydra(config):
            told = self.told("""
                def main(cfg):
                    kwargs = dict(num_workers=cfg.data.workers)
                    DataLoader(rows, **kwargs)
                """, changes=WORKERS, configs=({"cfg": ""},))
        self.assertEqual([one["given"] for one in told["options"]], [["data.workers=8"]])
        told = self.told("""
            import os
            kwargs = {"num_workers": int(os.environ["WORKERS"])}
            def make(rows, kwargs=None):
                pass
            DataLoader(rows, **kwargs)
            """, changes=WORKERS)
        self.assertEqual(told["environment"], {"WORKERS": "8"})

    def test_what_the_caller_gives_is_changed_there(self):
        # Bug: the edit in a function that makes the loaders of training and validation changed both.
        told = self.told("""
            def make(rows, workers):
                kwargs = dict(num_workers=workers)
                return DataLoader(rows, **kwargs)
            train = make(1, 4)
            valid = make(2, 4)
            """, changes=WORKERS, way=["DataLoader(", "train ="])
        self.assertIn("+train = make(1, 8)", told["diff"])
        self.assertEqual(told["patch"].count("\n+"), 2)

    def test_what_the_caller_unpacks_is_found(self):
        # Bug: timm's train.py was to be patched within timm, where `-j 8` is enough.
        text = """
            import argparse
            parser = argparse.ArgumentParser()
            parser.add_argument("-j", "--workers", type=int, default=4)
            args = parser.parse_args()
            def make(rows, pinned=False, workers=1):
                kwargs = dict(num_workers=workers)
                return DataLoader(rows, **kwargs)
            common = dict(pinned=True)
            own = dict(workers=%s)
            train = make(1, **common, **own)
            valid = make(2, **common)
            """
        way = ["DataLoader(", "train ="]
        self.assert_option(self.told(text % "args.workers", ["-j", "4"], WORKERS, way))
        told = self.told(text % 4, changes=WORKERS, way=way)
        self.assertIn("+own = dict(workers=8)", told["diff"])
        told = self.told((text % 4).replace("make(2, **common)", "make(2, **own)"), changes=WORKERS, way=way)
        self.assertIn('**{**kwargs, "num_workers": 8}', told["diff"])
        told = self.told((text % 4).replace("dict(workers=4)", "read()"), changes=WORKERS, way=way)
        self.assertIn('**{**kwargs, "num_workers": 8}', told["diff"])

    def test_what_may_be_set_elsewhere_is_said_to_be_unfollowed(self):
        # Bug: the user's option is dead from then on, and nothing tells of it.
        setting = "kwargs = dict(num_workers=args.workers)\n"
        for line in ("kwargs['num_workers'] = 2", "kwargs.update(num_workers=2)", "kwargs.pop('num_workers')",
                     "del kwargs['num_workers']"):
            told = self.make(setting + line + "\nDataLoader(rows, **kwargs)")
            self.assert_unfollowed(told, 'kwargs["num_workers"]')
        for line in ("kwargs.update(given)", "kwargs = {}", "kwargs |= given", "more = kwargs", "fill(kwargs)",
                     "for kwargs in given: pass"):
            self.assert_unfollowed(self.make(setting + line + "\nDataLoader(rows, **kwargs)"), "kwargs")
        for line in ("DataLoader(rows, **given)", "given = {**given, 'x': 1}\nDataLoader(rows, **given)"):
            self.assert_unfollowed(self.make(line), "given")
        self.assert_unfollowed(self.make("DataLoader(rows, **vars(args))"), "vars(args)")
        self.assert_unfollowed(self.make("kwargs = dict(num_workers=count())\nDataLoader(rows, **kwargs)"), "count()")


class Literals(Folder):
    def test_in_a_dict_of_this_call_alone_are_changed_there(self):
        # Bug: a diff of the call that overrides the dict one line above it.
        told = self.told("""
            kwargs = dict(num_workers=4, pin_memory=True)
            DataLoader(rows, **kwargs)
            """, changes=WORKERS)
        self.assertIn("+kwargs = dict(num_workers=8, pin_memory=True)", told["diff"])
        self.assertNotIn("DataLoader", told["diff"])

    def test_in_a_dict_of_several_calls_stay(self):
        # Bug: the loader that validates had other workers, too.
        told = self.told("""
            kwargs = dict(num_workers=4)
            train = DataLoader(rows, **kwargs)
            valid = DataLoader(rows, **kwargs)
            """, changes=WORKERS)
        self.assertIn('+train = DataLoader(rows, **{**kwargs, "num_workers": 8})', told["diff"])
        self.assertEqual(told["patch"].count("\n+"), 2)

    def test_of_an_earlier_patch_are_changed_in_place(self):
        # Bug: `**{**{**kwargs, "num_workers": 8}, "num_workers": 4}` after a second run.
        told = self.told("""
            kwargs = dict(batch_size=4)
            DataLoader(rows, **{**kwargs, "num_workers": 8})
            """, changes={"num_workers": 4})
        self.assertIn('+DataLoader(rows, **{**kwargs, "num_workers": 4})', told["diff"])


if __name__ == "__main__":
    unittest.main()
