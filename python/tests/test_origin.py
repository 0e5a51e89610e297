# SPDX-License-Identifier: Apache-2.0
"""Tests of where a value is set: the change is to be made there, and the patch is one that others
take."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate.source import Site, change  # noqa: E402

EIGHT = {"num_workers": 8, "persistent_workers": True}


class Config(dict):
    """Of OmegaConf, as far as it is asked; `full_key` as that has it: "" of the whole."""

    def __init__(self, full_key="", **values):
        super().__init__(values)
        self.full_key = full_key

    def _get_full_key(self, key):
        return self.full_key


Config.__module__ = "omegaconf.dictconfig"


def started_by_hydra(config):
    """While Hydra runs a script with this config."""
    held = types.SimpleNamespace(_get_parent=lambda: config)
    module = types.SimpleNamespace(HydraConfig=types.SimpleNamespace(get=lambda: held))
    return mock.patch.dict(sys.modules, {"hydra.core.hydra_config": module})


class Folder(unittest.TestCase):
    def setUp(self):
        self.files = 0
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, text, name="train.py", newline="\n"):
        path = os.path.join(self.folder, name)
        with open(path, "w", newline=newline) as file:
            file.write(textwrap.dedent(text).lstrip("\n"))
        return path

    def enter(self):
        """From now on the script runs in its folder."""
        os.chdir(self.folder)
        self.addCleanup(os.chdir, "/")

    def told(self, text, argv=(), changes=EIGHT, way=None, configs=(), now=None):
        """The change of the DataLoader in a text; `way` holds words in the lines that led there."""
        self.files += 1
        file = self.write(text, "train%d.py" % self.files)
        with open(file) as opened:
            lines = opened.read().split("\n")

        def line(word):
            return 1 + next(at for at, one in enumerate(lines) if word in one)

        places = [(file, line(word)) for word in way or ["DataLoader("]]
        return change(Site(file, places[0][1], way=tuple(places), configs=configs), changes, list(argv), now)


class Options(Folder):
    SCRIPT = """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("-j", "--workers", type=int, default=4)
        args = parser.parse_args()
        loader = DataLoader(rows, num_workers=args.workers)
        """

    def test_of_the_command_line_are_given_there(self):
        # Bug: with `-j 4` on the command line the patch wrote the literal 8 in the place of args.workers.
        for argv, given in ((["-j", "4"], ["-j", "8"]), (["-j4"], ["-j8"]),
                            (["--workers", "4"], ["--workers", "8"]),
                            (["--lr", "1", "--workers=4"], ["--workers=8"]), ([], ["--workers", "8"])):
            told = self.told(self.SCRIPT, argv)
            self.assertEqual([one["given"] for one in told["options"]], [given])
            self.assertEqual(told["options"][0]["words"], [one for one in argv if one not in
                                                           ("--lr", "1")])
            self.assertIn("+loader = DataLoader(rows, num_workers=args.workers, "
                          "persistent_workers=args.workers > 0)", told["diff"])

    def test_that_other_code_reads_stay_and_the_call_is_changed(self):
        # Bug: `THREADS = 8` also for torch.set_num_threads(THREADS), which was not what was measured.
        told = self.told("""
            import torch
            THREADS = 4
            torch.set_num_threads(THREADS)
            loader = DataLoader(rows, num_workers=THREADS)
            """, changes={"num_workers": 8})
        self.assertIn("+loader = DataLoader(rows, num_workers=8)", told["diff"])
        self.assertNotIn("THREADS = 8", told["diff"])

    def test_of_no_workers_leave_nothing_that_needs_some(self):
        # Bug: `NUM_WORKERS = 0` beside persistent_workers=True, which PyTorch refuses.
        told = self.told("""
            WORKERS = 4
            loader = DataLoader(rows, num_workers=WORKERS, persistent_workers=True, prefetch_factor=4)
            """, changes={"num_workers": 0})
        self.assertIn("+WORKERS = 0", told["diff"])
        self.assertIn("persistent_workers=False, prefetch_factor=None)", told["diff"])
        told = self.told("""
            kw = dict(num_workers=4, persistent_workers=True)
            loader = DataLoader(rows, **kw)
            """, changes={"num_workers": 0})
        self.assertIn("+kw = dict(num_workers=0, persistent_workers=False)", told["diff"])
        told = self.told("loader = DataLoader(rows, **kw)", changes={"num_workers": 0})
        self.assertIn('"num_workers": 0, "persistent_workers": False, "prefetch_factor": None', told["diff"])

    def test_that_may_say_no_workers_guard_what_needs_some(self):
        # Bug: `-j 0` after the patch, which PyTorch refuses beside a start method.
        told = self.told(self.SCRIPT, ["-j", "4"], {"num_workers": 8, "multiprocessing_context": "spawn"})
        self.assertIn("num_workers=args.workers, multiprocessing_context='spawn' if args.workers > 0 else None)",
                      told["diff"])
        # Bug: no guard where the number of workers stays, and `-j 0` or a machine without a GPU ends the script.
        told = self.told(self.SCRIPT, ["-j", "4"], {"persistent_workers": True})
        self.assertIn("persistent_workers=args.workers > 0)", told["diff"])
        script = self.SCRIPT.replace("args.workers)", "args.workers, persistent_workers=False)")
        told = self.told(script, ["-j", "4"], {"persistent_workers": True})
        self.assertIn("persistent_workers=args.workers > 0)", told["diff"])
        told = self.told("DataLoader(rows, num_workers=4 if cuda else 0)", changes={"persistent_workers": True})
        self.assertIn("persistent_workers=(4 if cuda else 0) > 0)", told["diff"])

    def test_that_the_script_does_not_read_are_not_given(self):
        # Bug: `python train.py --workers 8` for an exported notebook, which parses a list of its own.
        told = self.told(self.SCRIPT.replace("parse_args()", "parse_args([])"), changes={"num_workers": 8})
        self.assertEqual(told["options"], [])
        self.assertIn("+loader = DataLoader(rows, num_workers=8)", told["diff"])
        either = self.SCRIPT.replace("parse_args()", "parse_args([]) if in_notebook else parser.parse_args()")
        self.assertEqual(len(self.told(either, changes={"num_workers": 8})["options"]), 1)

    def test_that_an_earlier_patch_guards_leave_the_guard_alone(self):
        # Bug: "Where the value of args.workers>0 comes from was not found", and a diff of spaces alone.
        guarded = self.SCRIPT.replace("args.workers)", "args.workers, persistent_workers=args.workers>0)")
        packed = self.SCRIPT.replace("rows, num_workers=args.workers", (
            'rows, **{**kwargs, "persistent_workers": kwargs["num_workers"] > 0}')).replace(
                "loader =", "kwargs = dict(num_workers=args.workers)\n        loader =")
        for script in (guarded, packed):
            for argv, changes in ((["-j", "0"], EIGHT), (["-j", "4"], {"num_workers": 0})):
                told = self.told(script, argv, changes)
                self.assertEqual(told["options"][0]["given"], ["-j", str(changes["num_workers"])])
                self.assertEqual((told["diff"], told["patch"]), ("", None))
        told = self.told(guarded, ["-j", "4"], {"num_workers": 8, "persistent_workers": False})
        self.assertIn("persistent_workers=False)", told["diff"])
        # What the call no longer reads guards nothing.
        told = self.told("loader = DataLoader(rows, num_workers=count, persistent_workers=count > 0)")
        self.assertIn("num_workers=8, persistent_workers=True)", told["diff"])

    def test_whose_value_is_all_that_changes_leave_the_source_alone(self):
        told = self.told(self.SCRIPT, changes={"num_workers": 2})
        self.assertEqual((told["diff"], told["patch"]), ("", None))

    def test_are_followed_through_functions_and_objects(self):
        told = self.told("""
            import argparse
            def make(rows, workers=0):
                return DataLoader(rows, num_workers=workers)
            class Trainer:
                def __init__(self, hparams):
                    self.hparams = hparams
                def loaders(self):
                    return make(1, workers=self.hparams.num_workers)
            parser = argparse.ArgumentParser()
            parser.add_argument("--num-workers", type=int)
            """, way=["DataLoader(", "return make("])
        self.assertEqual(told["options"], [{"words": [], "given": ["--num-workers", "8"]}])

    def test_of_click_are_options_too(self):
        told = self.told("""
            import click
            @click.command()
            @click.option("--workers", "-w", default=2)
            def main(workers):
                loader = DataLoader(rows, num_workers=workers)
            """)
        self.assertEqual(told["options"], [{"words": [], "given": ["--workers", "8"]}])

    def test_that_take_no_value_are_given_or_left_out(self):
        # Bug: `pin_memory=True` was written over args.pin_memory, and `--pin-memory` did nothing from then on.
        script = """
            import argparse
            parser = argparse.ArgumentParser()
            parser.add_argument("-p", "--pin-memory", %s)
            args = parser.parse_args()
            loader = DataLoader(rows, pin_memory=args.pin_memory)
            """
        on_or_off = "action=argparse.BooleanOptionalAction"
        for declared, argv, wanted, given in (
                ('action="store_true"', [], True, ["--pin-memory"]),
                ('action="store_true", default=False', ["--lr", "1"], True, ["--pin-memory"]),
                ('action="store_true"', ["-p", "--lr"], False, []),
                ('action="store_false"', [], False, ["--pin-memory"]),
                (on_or_off, ["--no-pin-memory"], True, ["--pin-memory"]),
                (on_or_off + ", default=True", [], False, ["--no-pin-memory"])):
            told = self.told(script % declared, argv, {"pin_memory": wanted}, now={"pin_memory": not wanted})
            words = [one for one in argv if "p" in one]
            self.assertEqual(told["options"], [{"words": words, "given": given}])
            self.assertEqual(told["diff"], "")
        # Bug of the script's: no option turns it off.
        told = self.told(script % 'action="store_true", default=True', [], {"pin_memory": False}, now={"pin_memory": True})
        self.assertIn("pin_memory=False)", told["diff"])
        clicked = """
            import click
            @click.command()
            @click.option("--pin", %s)
            def main(pin):
                loader = DataLoader(rows, pin_memory=pin)
            """
        told = self.told(clicked % "is_flag=True", changes={"pin_memory": True}, now={"pin_memory": False})
        self.assertEqual(told["options"], [{"words": [], "given": ["--pin"]}])

        # Bug: a flag that does nothing, or that click or argparse refuse.
        others = [clicked % "is_flag=True, default=True", clicked % "count=True",
                  (clicked % "is_flag=True").replace('"--pin"', '"--pin/--no-pin", "pin"'),
                  (clicked % "flag_value=False, is_flag=True"), script % 'action="store_const", const=1']
        for other in others:
            told = self.told(other, changes={"pin_memory": True}, now={"pin_memory": False})
            self.assertEqual(told["options"], [])
            self.assertIn("pin_memory=True)", told["diff"])
        told = self.told(script % on_or_off, ["-p", "-p"], {"pin_memory": False}, now={"pin_memory": True})
        self.assertEqual(told["options"], [])

    def test_that_decide_on_more_are_left_alone(self):
        # Bug: "python train.py" without its `--cuda`: it would have trained on the CPU.
        for name in ("cuda", "fast"):
            told = self.told("""
                import argparse
                parser = argparse.ArgumentParser()
                parser.add_argument("--%s", action="store_true")
                args = parser.parse_args()
                loader = DataLoader(rows, pin_memory=args.%s)
                """ % (name, name), ["--" + name], {"pin_memory": False}, now={"pin_memory": True})
            self.assertEqual(told["options"], [])
            self.assertIn("pin_memory=False)", told["diff"])

    def test_that_two_parsers_have_are_not_guessed(self):
        told = self.told(self.SCRIPT + """
        other = argparse.ArgumentParser()
        other.add_argument("--workers", type=int)
        """)
        self.assertEqual(told["options"], [])
        self.assertIn("num_workers=8", told["diff"])


class Places(Folder):
    def test_of_a_constant_is_where_it_is_set(self):
        told = self.told("""
            WORKERS = 4
            loader = DataLoader(rows, num_workers=WORKERS)
            """, changes={"num_workers": 8})
        self.assertIn("-WORKERS = 4\n+WORKERS = 8", told["diff"])
        self.assertNotIn("DataLoader", told["diff"])

    def test_of_a_default_is_the_function_s(self):
        told = self.told("""
            def make(rows, workers=2):
                return DataLoader(rows, num_workers=workers)
            make(1)
            """, changes={"num_workers": 8}, way=["DataLoader(", "make(1)"])
        self.assertIn("+def make(rows, workers=8):", told["diff"])

    def test_of_what_the_caller_gives_is_there(self):
        told = self.told("""
            def make(rows, workers=2):
                return DataLoader(rows, num_workers=workers)
            make(1, 3)
            """, changes={"num_workers": 8}, way=["DataLoader(", "make(1, 3)"])
        self.assertIn("+make(1, 8)", told["diff"])

    def test_of_a_field_is_its_default(self):
        told = self.told("""
            @dataclasses.dataclass
            class Settings:
                workers: int = 2
            settings = Settings()
            loader = DataLoader(rows, num_workers=settings.workers)
            """, changes={"num_workers": 8})
        self.assertIn("+    workers: int = 8", told["diff"])

    def test_that_other_code_sets_later_is_changed_in_the_call(self):
        # Bug: a default was edited that other code replaces, so that the patch changed nothing.
        for text, use in (
                ("""CFG = {"workers": 0}
                    CFG.update(vars(parser.parse_args()))""", 'CFG["workers"]'),
                ("""CFG = {"workers": 0}
                    CFG["workers"] = 0""", 'CFG["workers"]'),
                ("""CFG = {"workers": 0}
                    read_into(CFG)""", 'CFG["workers"]'),
                ("""WORKERS = 0
                    def setup():
                        global WORKERS
                        WORKERS = 0""", "WORKERS"),
                ("""class Config:
                        workers: int = 0
                    cfg = Config(lr=1, workers=0)""", "cfg.workers"),
                ("""class Config:
                        workers: int = 0
                    cfg = Config(**read())""", "cfg.workers"),
                ("""class Config:
                        workers: int = 0
                    cfg = Config()
                    cfg.workers = 0""", "cfg.workers"),
                ("""class Config:
                        workers: int = 0
                    cfg = Config()
                    for key, value in read():
                        setattr(cfg, key, value)""", "cfg.workers")):
            text = textwrap.dedent(" " * 20 + text) + "\nloader = DataLoader(rows, num_workers=%s)\n" % use
            told = self.told(text, changes={"num_workers": 8})
            self.assertIn("+loader = DataLoader(rows, num_workers=8)", told["diff"], text)
            self.assertEqual(told["diff"].count("\n+"), 1, told["diff"])
        told = self.told("""
            def main(cfg):
                return DataLoader(rows, num_workers=cfg["workers"])
            cfg = {"workers": 0}
            """, changes={"num_workers": 8})
        self.assertIn("+    return DataLoader(rows, num_workers=8)", told["diff"])
        told = self.told("""
            class Data:
                def __init__(self):
                    self.workers = 0
                def loader(self):
                    return DataLoader(1, num_workers=self.workers)
            data = Data()
            data.workers = 0
            """, changes={"num_workers": 8})
        self.assertIn("+        return DataLoader(1, num_workers=8)", told["diff"])
        told = self.told("""
            def make(rows, workers=0):
                if sys.platform == "win32":
                    workers = 0
                return DataLoader(rows, num_workers=workers)
            """, changes={"num_workers": 8})
        self.assertIn("+    return DataLoader(rows, num_workers=8)", told["diff"])
        told = self.told("""
            def make(rows, workers=None):
                if workers is None:
                    workers = 4
                return DataLoader(rows, num_workers=workers)
            """, changes={"num_workers": 8}, now={"num_workers": 4})
        self.assertIn("+        workers = 8", told["diff"])
        told = self.told("""
            class Data:
                workers: int = 0
                def loader(self):
                    return DataLoader(1, num_workers=self.workers)
            data = Data(workers=args.n)
            """, changes={"num_workers": 8})
        self.assertIn("+        return DataLoader(1, num_workers=8)", told["diff"])
        told = self.told("""
            CFG = {"workers": 0, "lr": 1}
            print(CFG, CFG.get("lr"), CFG["lr"])
            loader = DataLoader(rows, num_workers=CFG["workers"])
            """, changes={"num_workers": 8})
        self.assertIn('+CFG = {"workers": 8, "lr": 1}', told["diff"])

    def test_an_option_that_does_not_take_the_value_stays(self):
        # Bug: `--workers 8`, which the script refuses: invalid choice.
        for kind in ("choices=[0, 1, 2, 4]", "choices=range(5)", "type=click.IntRange(0, 4)"):
            told = self.told("""
                parser.add_argument("--workers", default=0, %s)
                loader = DataLoader(rows, num_workers=args.workers)
                """ % kind, changes={"num_workers": 8})
            self.assertIn("+loader = DataLoader(rows, num_workers=8)", told["diff"], kind)
        told = self.told("""
            parser.add_argument("--workers", default=0, choices=(0, 8))
            loader = DataLoader(rows, num_workers=args.workers)
            """, changes={"num_workers": 8})
        self.assertEqual(told["options"], [{"words": [], "given": ["--workers", "8"]}])

    def test_an_option_of_the_script_stands_before_its_subcommand(self):
        # Bug: `train.py fit --workers 8`, which argparse refuses.
        text = """
            common = argparse.ArgumentParser(add_help=False)
            commands = parser.add_subparsers()
            fit = commands.add_parser("fit", parents=[common])
            %s.add_argument("--workers", default=0)
            loader = DataLoader(rows, num_workers=args.workers)
            """
        for owner, first in (("parser", True), ("fit", False), ("common", False), ("fit.add_argument_group()", False)):
            told = self.told(text % owner, ["fit"], {"num_workers": 8})
            self.assertEqual(told["options"][0].get("first", False), first, owner)
        told = self.told(text % "parser" + """
            def pinned(p):
                p.add_argument("--pin-memory", action="store_true")
                return DataLoader(rows, pin_memory=args.pin_memory)  # this one
            """, ["fit"], {"pin_memory": True}, way=["this one"])
        self.assertNotIn("first", told["options"][0])

    def test_of_a_member_is_where_its_object_is_made(self):
        told = self.told("""
            class Data:
                def __init__(self, rows, workers):
                    self.workers = workers
                def loader(self):
                    return DataLoader(1, num_workers=self.workers)
            data = Data(1, workers=2)
            """, changes={"num_workers": 8})
        self.assertIn("+data = Data(1, workers=8)", told["diff"])

    def test_of_a_dict_is_its_entry(self):
        told = self.told("""
            config = {"batch": 4, "workers": 2}
            loader = DataLoader(rows, num_workers=config["workers"])
            """, changes={"num_workers": 8})
        self.assertIn('+config = {"batch": 4, "workers": 8}', told["diff"])

    def test_of_another_module_is_its_constant_unless_that_is_installed(self):
        # Bug: a patch that edits a package in site-packages.
        for folder, changed in (("own", "+WORKERS = 8"), ("site-packages", "num_workers=8")):
            os.mkdir(os.path.join(self.folder, folder))
            file = self.write("WORKERS = 4\n", folder + "/settings.py")
            module = types.SimpleNamespace(__file__=file)
            with mock.patch.dict(sys.modules, {"trial_settings": module}):
                told = self.told("""
                    from trial_settings import WORKERS
                    loader = DataLoader(rows, num_workers=WORKERS)
                    """, changes={"num_workers": 8})
            self.assertIn(changed, told["diff"])

    def test_of_a_variable_is_the_environment(self):
        for read in ('int(os.environ.get("WORKERS", 4))', 'int(os.environ["WORKERS"])',
                     'int(os.getenv("WORKERS", "4"))'):
            told = self.told("loader = DataLoader(rows, num_workers=%s)" % read,
                             changes={"num_workers": 8})
            self.assertEqual((told["environment"], told["diff"]), ({"WORKERS": "8"}, ""))

    def test_that_are_not_clear_are_changed_in_the_call(self):
        # Would catch a guess: a name that is set twice, computed, or comes from outside.
        for text in ("n = 2\nn = 3\nloader = DataLoader(rows, num_workers=n)",
                     "n = 2 * k\nloader = DataLoader(rows, num_workers=n)",
                     "for n in (1, 2):\n    loader = DataLoader(rows, num_workers=n)",
                     "loader = DataLoader(rows, num_workers=config.loader.workers)"):
            told = self.told(text, changes={"num_workers": 8})
            self.assertIn("DataLoader(rows, num_workers=8)", told["diff"])


class Hydra(Folder):
    SCRIPT = """
        def make(cfg):
            return DataLoader(rows, num_workers=cfg.num_workers)
        """
    DATA = Config("data", num_workers=2)
    COMPOSED = Config(data=DATA, linked=DATA, num_workers=4)

    def of(self, text, configs, argv=(), held=2):
        """The options of a script whose loader has so many workers."""
        with started_by_hydra(self.COMPOSED):
            told = self.told(text, argv, {"num_workers": 8}, configs=(configs,), now={"num_workers": held})
        self.assertEqual(bool(told["options"]), not told["diff"])
        return [(one["words"], one["given"]) for one in told["options"]]

    def test_takes_the_key_of_the_whole_config(self):
        # Bug: `num_workers=8` for make(cfg.data), which Hydra refuses, or which sets another loader.
        eight = [([], ["data.num_workers=8"])]
        self.assertEqual(self.of(self.SCRIPT, {"cfg": "data"}), eight)
        self.assertEqual(self.of(self.SCRIPT, {"cfg": ""}, held=4), [([], ["num_workers=8"])])
        self.assertEqual(self.of(self.SCRIPT.replace("cfg.num", "cfg.data.num"), {"cfg": ""}), eight)
        # Bug: `linked: ${data}`, of which Hydra knows no keys.
        self.assertEqual(self.of(self.SCRIPT.replace("cfg.num", "cfg.linked.num"), {"cfg": ""}), eight)

    def test_takes_what_an_object_holds(self):
        text = """
            class Data:
                def loader(self):
                    return DataLoader(rows, num_workers=self.cfg.%snum_workers)
            """
        eight = [([], ["data.num_workers=8"])]
        self.assertEqual(self.of(text % "data.", {"self.cfg": ""}), eight)
        self.assertEqual(self.of(text % "", {"self.cfg": "data"}), eight)

    def test_replaces_the_words_of_today(self):
        # Bug: `data.num_workers=8` for `+data.num_workers=2`: Hydra refuses a new key without its plus.
        for words in ("data.num_workers=2", "+data.num_workers=2", "++data.num_workers=2"):
            self.assertEqual(self.of(self.SCRIPT, {"cfg": "data"}, ["lr=1", words]),
                             [([words], [words.replace("2", "8")])])
        self.assertEqual(self.of(self.SCRIPT, {"cfg": "data"}, ["data.num_workers=1", "data.num_workers=2"]),
                         [(["data.num_workers=2"], ["data.num_workers=8"])])

    def test_is_not_believed_where_the_loader_has_another_value(self):
        # Bug: the script computes its workers, and an override that sets them in vain was shown.
        self.assertEqual(self.of(self.SCRIPT, {"cfg": "data"}, held=3), [])
        self.assertEqual(self.of(self.SCRIPT, {"cfg": "data"}, ["data.num_workers=2,3"]), [])

    def test_is_not_guessed(self):
        # Bug: an override for a config that the script made itself, or for an entry of a list.
        self.assertEqual(self.of(self.SCRIPT, {"cfg": "other"}), [])
        self.assertEqual(self.of(self.SCRIPT.replace("cfg.num", "cfg.data.num"), {"cfg": "other"}), [])
        in_list = Config("items[0]", num_workers=2)
        with mock.patch.dict(self.COMPOSED, linked=in_list, items=[in_list]):
            self.assertEqual(self.of(self.SCRIPT.replace("cfg.num", "cfg.linked.num"), {"cfg": ""}), [])
        told = self.told(self.SCRIPT, (), {"num_workers": 8}, configs=({"cfg": "data"},))
        self.assertEqual(told["options"], [])
        self.assertIn("cfg.num_workers comes from was not found", told["diff"])

    def test_names_the_config_of_the_function_in_which_it_stands(self):
        # Bug: in the caller `cfg` is the whole config.
        text = """
            def make(rows, workers, cfg):
                return DataLoader(rows, num_workers=workers)
            def main(cfg):
                make(rows, cfg.data.num_workers, cfg.data)
            """
        with started_by_hydra(self.COMPOSED):
            told = self.told(text, (), {"num_workers": 8}, way=["DataLoader(", "make(rows, cfg"],
                             configs=({"cfg": "data"}, {"cfg": ""}), now={"num_workers": 2})
        self.assertEqual(told["options"], [{"words": [], "given": ["data.num_workers=8"]}])
        # Bug: `cfg` of the constructor is not that of the method.
        text = """
            class Data:
                def __init__(self, cfg):
                    self.workers = cfg.num_workers
                def loader(self, cfg):
                    return DataLoader(rows, num_workers=self.workers)
            """
        self.assertEqual(self.of(text, {"cfg": "data"}), [])


@unittest.skipUnless(shutil.which("git"), "git is not here")
class Libraries(Folder):
    """Of the command line and of settings, beside argparse, click and Hydra."""

    def given(self, text, argv=(), **more):
        told = self.told(text, argv, {"num_workers": 8}, **more)
        self.assertEqual(told["diff"], "")
        return told["options"][0]["given"]

    def test_flags_of_absl(self):
        declared = """
            from absl import app, flags
            %s
            def main(_):
                loader = DataLoader(rows, num_workers=%s)
            """
        for declaration, use in (
                ('flags.DEFINE_integer("workers", 4, "")', "flags.FLAGS.workers"),
                ('flags.DEFINE_integer("workers", 4, "")', "FLAGS.workers"),
                ('WORKERS = flags.DEFINE_integer(name="workers", default=4, help="")', "WORKERS.value")):
            self.assertEqual(self.given(declared % (declaration, use)), ["--workers", "8"])
            self.assertEqual(self.given(declared % (declaration, use), ["--workers=2"]), ["--workers=8"])

    def test_parameters_that_fire_and_typer_make_options(self):
        fire = """
            import fire
            def main(data_dir, num_workers=4):
                loader = DataLoader(rows, num_workers=num_workers)
            fire.Fire(main)
            """
        self.assertEqual(self.given(fire, ["--data_dir=x"]), ["--num_workers", "8"])
        self.assertEqual(self.given(fire, ["--num-workers", "2"]), ["--num-workers", "8"])
        typer = """
            import typer
            app = typer.Typer()
            @app.command()
            def main(num_workers: int = %s):
                loader = DataLoader(rows, num_workers=num_workers)
            app()
            """
        self.assertEqual(self.given(typer % "4"), ["--num-workers", "8"])
        self.assertEqual(self.given(typer % 'typer.Option(4, "--jobs", "-j")', ["-j", "2"]), ["-j", "8"])

    def test_fields_that_a_parser_makes_options(self):
        # Bug: the default of the dataclass is changed, which the command line replaces.
        text = """
            from dataclasses import dataclass
            @dataclass
            class Settings:
                num_workers: int = 4
            settings = HfArgumentParser(Settings).parse_args_into_dataclasses()[0]
            loader = DataLoader(rows, num_workers=settings.num_workers)
            """
        self.assertEqual(self.given(text), ["--num_workers", "8"])
        self.assertEqual(self.given(text, ["--num_workers", "2"]), ["--num_workers", "8"])
        self.assertEqual(self.given(text.replace("HfArgumentParser(Settings).parse_args_into_dataclasses()[0]",
                                                 "tyro.cli(Settings)"), ["--num-workers=2"]),
                         ["--num-workers=8"])
        plain = self.told(text.replace("HfArgumentParser(Settings).parse_args_into_dataclasses()[0]",
                                       "Settings()"), [], {"num_workers": 8})
        self.assertIn("+    num_workers: int = 8", plain["diff"])

    def test_a_number_of_another_section_stays(self):
        # Bug: val.workers of the file, for a loader whose train.workers is not there.
        self.enter()
        self.write('{"train": {"batch": 2}, "val": {"workers": 2}}\n', "b.json")
        told = self.told("""
            config = json.load(open("b.json"))
            loader = DataLoader(rows, num_workers=config["train"].get("workers", 2))
            """, changes={"num_workers": 8})
        self.assertIn("+loader = DataLoader(rows, num_workers=8)", told["diff"])
        self.assertNotIn("b.json", told["diff"])

    def test_what_is_no_number_stays_out_of_files_of_settings(self):
        # Bug: {"workers": 0, "prefetch": None}, which is no JSON.
        self.enter()
        self.write('{"workers": 4, "prefetch": 4}\n', "d.json")
        told = self.told("""
            config = json.load(open("d.json"))
            loader = DataLoader(rows, num_workers=config["workers"], prefetch_factor=config["prefetch"])
            """, changes={"num_workers": 0})
        self.assertIn('+{"workers": 0, "prefetch": 4}', told["diff"])
        self.assertIn("prefetch_factor=None)", told["diff"])

    def test_numbers_in_files_of_settings(self):
        # Bug: `config["workers"]` is written over in the source, and the file says something else.
        self.enter()
        files = {"a.yaml": "data:\n  workers: 4  # of the loader\n  batch: 16\n",
                 "a.json": '{"data": {"workers": 4, "batch": 16}}\n',
                 "a.toml": "[data]\nworkers = 4\n"}
        for name, held in files.items():
            self.write(held, name)
        for name, load, use in (
                ("a.yaml", 'yaml.safe_load(open("a.yaml"))', 'config["data"]["workers"]'),
                ("a.yaml", 'OmegaConf.load("a.yaml")', "config.data.workers"),
                ("a.json", 'json.loads(Path("a.json").read_text())', 'config["data"].get("workers", 0)'),
                ("a.toml", 'tomllib.load(open("a.toml", "rb"))', 'int(config["data"]["workers"])')):
            told = self.told("""
                config = %s
                def make(settings):
                    return DataLoader(rows, num_workers=%s)
                make(config)
                """ % (load, use), [], {"num_workers": 8})
            self.assertIn("workers", told["diff"], (name, told))
            self.assertTrue(told["diff"].startswith("--- " + name), told["diff"])
            self.assertIn("8", told["diff"])
            self.assertEqual(self.applied(told["patch"], name), files[name].replace("4", "8", 1))

    def test_a_file_that_an_option_names_and_a_with_statement_opens(self):
        self.enter()
        self.write("workers: 4\n", "b.yaml")
        text = """
            import argparse
            parser = argparse.ArgumentParser()
            parser.add_argument("--config", default="b.yaml")
            args = parser.parse_args()
            with open(args.config) as file:
                config = yaml.safe_load(file)
            loader = DataLoader(rows, num_workers=config["workers"])
            """
        for argv in ([], ["--config", "b.yaml"]):
            told = self.told(text, argv, {"num_workers": 8})
            self.assertIn("+workers: 8", told["diff"])

    def test_a_key_that_stands_twice_is_not_guessed(self):
        self.enter()
        self.write("train:\n  workers: 4\ntest:\n  workers: 4\n", "c.yaml")
        told = self.told("""
            config = yaml.safe_load(open("c.yaml"))
            loader = DataLoader(rows, num_workers=config["train"]["workers"])
            """, [], {"num_workers": 8})
        self.assertIn("was not found", told["diff"])

    def applied(self, patch, name):
        """The file behind `git apply`; it is put back."""
        path = os.path.join(self.folder, name)
        before = pathlib.Path(path).read_text()
        subprocess.run(["git", "apply", "-"], input=patch, text=True, check=True, cwd=self.folder)
        after = pathlib.Path(path).read_text()
        pathlib.Path(path).write_text(before)
        return after


class Doubts(Folder):
    def test_a_constant_that_sets_the_batch_too_stays(self):
        # Bug: `N = 4` became 8 for the workers, and the batch size with it.
        text = """
            N = 4
            loader = DataLoader(rows, batch_size=N, num_workers=N)
            """
        told = self.told(text, changes={"num_workers": 8})
        self.assertIn("+loader = DataLoader(rows, batch_size=N, num_workers=8)", told["diff"])
        self.assertNotIn("+N", told["diff"])
        both = self.told(text, changes={"num_workers": 8, "batch_size": 16})
        self.assertIn("batch_size=16, num_workers=8)", both["diff"])
        alike = self.told(text, changes={"num_workers": 8, "batch_size": 8})
        self.assertIn("+N = 8", alike["diff"])
        self.assertNotIn("+loader", alike["diff"])

    def test_what_was_traced_has_the_value_of_the_loader(self):
        # Bug: another constant of the same name was changed, and the loader kept its workers.
        file = self.write("""
            N = 4
            loader = DataLoader(rows, num_workers=N)
            """, "traced.py")
        site = Site(file, 2, way=((file, 2),))
        wrong = change(site, {"num_workers": 8}, [], {"num_workers": 3})
        self.assertIn("+loader = DataLoader(rows, num_workers=8)", wrong["diff"])
        self.assertIn("+N = 8", change(site, {"num_workers": 8}, [], {"num_workers": 4})["diff"])

    def test_an_option_has_the_value_of_the_loader(self):
        # Bug: the script read the option, and set another number of workers.
        file = self.write(Options.SCRIPT, "option.py")
        site = Site(file, 5, way=((file, 5),))
        for argv, now, is_option in ((["-j4"], 4, True), (["-j", "4"], 4, True), ([], 4, True),
                                     (["--workers=4"], 2, False), ([], 2, False)):
            told = change(site, {"num_workers": 8}, argv, {"num_workers": now})
            self.assertEqual(bool(told["options"]), is_option, (argv, now))


class Patches(Folder):
    def test_of_a_file_with_two_kinds_of_line_ends_is_none(self):
        # Bug: a patch with one kind of line ends, which git refuses.
        path = os.path.join(self.folder, "mixed.py")
        with open(path, "wb") as file:
            file.write(b"x = DataLoader(ds, num_workers=2)\r\ny = 1\n")
        told = change(Site(path, 1), {"num_workers": 8}, [])
        self.assertIsNone(told["patch"])
        self.assertIn("+x = DataLoader(ds, num_workers=8)", told["diff"])

    def applied(self, patch, *git):
        """The patch, applied by git, and checked by `patch` where that is here."""
        command = ["git", "apply", *git, "-"]
        done = subprocess.run(command, cwd=self.folder, input=patch.encode(), capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_are_taken_by_git_whatever_the_file_is_like(self):
        # Bug: a diff for people alone, which no program takes.
        subprocess.run(["git", "init", "-q"], cwd=self.folder, check=True)
        text = "# caf\u00e9\n" + "x = 1\n" * 10 + "\tloader = DataLoader(rows)".strip() + "\n" + "y = 2\n" * 5
        for name, newline, end in (("train.py", "\n", ""), ("my train.py", "\n", ""),
                                   ("crlf.py", "\r\n", ""), ("tail.py", "\n", "loader = DataLoader(r)")):
            source = text if not end else "z = 3\n" * 4 + end
            file = self.write(source, name, newline)
            line = 1 + source.split("\n").index(end or "loader = DataLoader(rows)")
            told = change(Site(file, line, way=((file, line),)), EIGHT)
            self.applied(told["patch"], "--check")
            self.applied(told["patch"])
            with open(file, newline="") as opened:
                after = opened.read()
            self.assertIn("num_workers=8, persistent_workers=True)", after)
            self.assertEqual(after.count("\r\n"), after.count("\n") if newline == "\r\n" else 0)
            self.assertEqual(after.endswith("\n"), not end)

    def test_of_another_encoding_are_none(self):
        file = self.write("# -*- coding: latin-1 -*-\nloader = DataLoader(rows)\n")
        told = change(Site(file, 2, way=((file, 2),)), EIGHT)
        self.assertIsNone(told["patch"])
        self.assertIn("num_workers=8", told["diff"])


if __name__ == "__main__":
    unittest.main()
