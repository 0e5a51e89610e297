# SPDX-License-Identifier: Apache-2.0
"""Tests of feedrate.trainer_arguments: a DataLoader that transformers' Trainer makes, and the call or the
command line that its settings come from."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from test_source import Sources, hook  # noqa: E402

from feedrate import source  # noqa: E402
from feedrate.parsed import source_of  # noqa: E402

EIGHT = {"num_workers": 8, "prefetch_factor": 4, "persistent_workers": True}
NOW = {"num_workers": 0, "batch_size": 32}
TRAINER = """
class TrainingArguments:
    dataloader_num_workers, dataloader_prefetch_factor, dataloader_pin_memory = 0, None, True
    dataloader_persistent_workers, per_device_train_batch_size = False, 8
    def __init__(self, *_, **given): self.__dict__.update(given)
class Seq2SeqTrainingArguments(TrainingArguments): pass
class Trainer:
    def __init__(self, args): self.args = args
    def make(self): return DataLoader(1)
    def train(self): return self.make()
"""


class Arguments(Sources):
    def site(self, text):
        library = {"__name__": "transformers.trainer", "DataLoader": hook()}
        exec(TRAINER, library)
        source_of.cache_clear()
        return self.run_script(text, **{name: library[name] for name in library if name[0].isupper()})["loader"].site

    def change(self, text, changes=EIGHT, argv=(), now=NOW):
        return source.change(self.site(text), changes, list(argv), now)

    def test_the_users_call_is_changed(self):
        # Bug: "transformers makes this DataLoader: set TrainingArguments(...)", and nothing to apply.
        told = self.change("""
            args = TrainingArguments(output_dir="out",
                                     num_train_epochs=3)
            loader = Trainer(args).train()
            """)
        self.assertIn("\n+".join(" " * 25 + line for line in (
            "num_train_epochs=3,", "dataloader_num_workers=8,", "dataloader_prefetch_factor=4,",
            "dataloader_persistent_workers=True)")), told["diff"])
        self.assertIn("+++ b/train.py", told["patch"])
        self.assertEqual((told["line"], told["options"]), (1, []))
        self.assertEqual(told["old"], dict.fromkeys(EIGHT))

    def test_a_value_that_is_there_is_replaced_where_it_is_set(self):
        told = self.change("""
            WORKERS = 2
            def main():
                args = Seq2SeqTrainingArguments("out", dataloader_num_workers=WORKERS)
                return Trainer(args).train()
            loader = main()
            """, {"num_workers": 8}, now={"num_workers": 2})
        self.assertIn("-WORKERS = 2\n+WORKERS = 8", told["diff"])
        self.assertEqual(told["old"], {"num_workers": "WORKERS"})

    def test_no_workers_need_nothing_of_theirs(self):
        # Bug: a Trainer that refuses prefetch_factor without workers.
        told = self.change("""
            args = TrainingArguments("out", dataloader_num_workers=4, dataloader_prefetch_factor=2)
            loader = Trainer(args).train()
            """, {"num_workers": 0}, now={"num_workers": 4, "prefetch_factor": 2})
        self.assertIn('+args = TrainingArguments("out", dataloader_num_workers=0, '
                      "dataloader_prefetch_factor=None)", told["diff"])

    def test_the_command_line_that_is_parsed_is_changed(self):
        text = """
            class HfArgumentParser:
                def __init__(self, kind): self.kind = kind
                def parse_args_into_dataclasses(self): return self.kind(),
            args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
            loader = Trainer(args).train()
            """
        told = self.change(text, argv=["--output_dir", "out", "--dataloader-num-workers", "2"])
        self.assertEqual(told["options"], [
            {"words": ["--dataloader-num-workers", "2"], "given": ["--dataloader-num-workers", "8"]},
            {"words": [], "given": ["--dataloader_prefetch_factor", "4"]},
            {"words": [], "given": ["--dataloader_persistent_workers", "True"]}])
        self.assertEqual((told["diff"], told["patch"]), ("", None))
        site = self.site(text)
        site.arguments = site.arguments._replace(names=frozenset(["dataloader_num_workers"]))
        self.assertEqual(source.change(site, EIGHT, [], NOW)["options"], [])
        argv = ["--dataloader_num_workers", "4", "--dataloader_prefetch_factor", "4",
                "--dataloader_persistent_workers", "--fp16"]
        told = self.change(text, argv=argv, changes={"num_workers": 0})
        self.assertEqual([one["words"] for one in told["options"] if not one["given"]],
                         [["--dataloader_prefetch_factor", "4"], ["--dataloader_persistent_workers"]])
        told = self.change(text, argv=["train.json"])
        self.assertIn("set TrainingArguments(dataloader_num_workers=8", told["diff"])
        # Bug: options for a script that reads a file, or none for one that would read one if it were named.
        reads = text.replace("parse_args_into_dataclasses", "parse_json_file")
        self.assertEqual(self.change(reads, argv=[])["options"], [])
        either = text.replace("            args,", "            if False: parser.parse_json_file(1)\n            args,")
        self.assertEqual(len(self.change(either, argv=[])["options"]), 3)

    def test_what_is_made_in_two_places_is_left_to_the_user(self):
        # Bug: the arguments of the evaluation changed in the place of the training's.
        told = self.change("""
            first = TrainingArguments("a")
            loader = Trainer(TrainingArguments("b")).train()
            """)
        self.assertIn("set TrainingArguments(dataloader_num_workers=8", told["diff"])
        self.assertIsNone(told["patch"])

    def test_an_argument_that_this_version_lacks_is_not_written(self):
        site = self.site("args = TrainingArguments('out')\nloader = Trainer(args).train()\n")
        self.assertEqual(site.arguments.class_name, "TrainingArguments")
        site.arguments = site.arguments._replace(names=site.arguments.names - {"dataloader_persistent_workers"})
        self.assertIn("set TrainingArguments(", source.change(site, EIGHT, [], NOW)["diff"])
        self.assertIn("+", source.change(site, {"num_workers": 8}, [], NOW)["diff"])

    def test_objects_without_such_arguments_are_no_trainers(self):
        frame = types.SimpleNamespace(f_locals={"self": types.SimpleNamespace(args=["x"])})
        self.assertIsNone(source.trainer_arguments.arguments_of([frame]))


if __name__ == "__main__":
    unittest.main()
