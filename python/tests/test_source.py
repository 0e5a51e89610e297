# SPDX-License-Identifier: Apache-2.0
"""Tests of feedrate.source: finding the call of DataLoader in a source text, and changing it."""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from feedrate import calls, edits, source  # noqa: E402
from feedrate.calls import Parameters  # noqa: E402

HAS_POSITIONS = sys.version_info >= (3, 11)


HOOK = """
from feedrate import source
class DataLoader:
    def __init__(self, *_, **__):
        self.site = source.call_site()
"""


def hook():
    """A module with a DataLoader that lies where the hook does, so that call_site skips it."""
    scope = {"__name__": "feedrate.standin"}
    exec(compile(HOOK, source.OWN_FOLDER + "standin.py", "exec"), scope)
    return scope["DataLoader"]


class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.before = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, self.before)
        calls._find_call.cache_clear()
        calls.read.cache_clear()

    def write(self, text, name="train.py"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text).lstrip("\n"))
        calls._find_call.cache_clear()
        calls.read.cache_clear()
        return path

    def run_script(self, text, **scope):
        path = self.write(text)
        scope.update(DataLoader=hook(), __name__="__main__")
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), scope)
        return scope

    def assert_diff(self, text, changes, expected, line=1):
        path = self.write(text)
        self.assertEqual(source.diff(path, line, changes), textwrap.dedent(expected).strip("\n"))


class Diff(Sources):
    def test_a_keyword_is_replaced_in_place(self):
        # Would catch an edit that reformats the call, or takes the wrong bytes after an umlaut.
        self.assert_diff("""
            loader = DataLoader(ds, batch_size = 4,num_workers=2 , name="Grüße")
            """, {"num_workers": 8}, """
            --- train.py:1
            -loader = DataLoader(ds, batch_size = 4,num_workers=2 , name="Grüße")
            +loader = DataLoader(ds, batch_size = 4,num_workers=8 , name="Grüße")
            """)

    def test_a_value_that_nobody_knows_where_it_is_set_is_replaced_in_the_call_and_that_is_said(self):
        # Bug: the user's option is dead from then on, and nothing tells of it.
        self.assert_diff("""
            loader = DataLoader(ds, num_workers=args.workers)
            """, {"num_workers": 8}, """
            --- train.py:1
            -loader = DataLoader(ds, num_workers=args.workers)
            +loader = DataLoader(ds, num_workers=8)
            (Where the value of args.workers comes from was not found, so the call is changed.)
            """)

    def test_columns_are_those_of_text_and_not_of_bytes(self):
        self.assert_diff("""
            loader = DataLoader("Grüße", name="ÄÖÜ", num_workers=2)
            """, {"num_workers": 8, "pin_memory": True}, """
            --- train.py:1
            -loader = DataLoader("Grüße", name="ÄÖÜ", num_workers=2)
            +loader = DataLoader("Grüße", name="ÄÖÜ", num_workers=8, pin_memory=True)
            """)

    def test_a_place_counts_like_a_name(self):
        # Would catch a keyword given beside its place, which is a TypeError.
        self.assert_diff("""
            loader = DataLoader(ds, 128, True)
            """, {"batch_size": 256, "num_workers": 8}, """
            --- train.py:1
            -loader = DataLoader(ds, 128, True)
            +loader = DataLoader(ds, 256, True, num_workers=8)
            """)

    def test_a_new_keyword_stands_on_a_line_of_its_own_where_the_others_do(self):
        self.assert_diff("""
            loader = DataLoader(
                ds,
                shuffle=True,  # as in the paper
            )
            """, {"num_workers": 8, "prefetch_factor": None}, """
            --- train.py:1
             loader = DataLoader(
                 ds,
                 shuffle=True,  # as in the paper
            +    num_workers=8,
            +    prefetch_factor=None,
             )
            """)

    def test_a_missing_trailing_comma_is_added_before_the_comment(self):
        self.assert_diff("""
            loader = DataLoader(
                ds,
                shuffle=(not args.sorted)  # as in the paper, (sic)
            )
            """, {"num_workers": 8}, """
            --- train.py:1
             loader = DataLoader(
                 ds,
            -    shuffle=(not args.sorted)  # as in the paper, (sic)
            +    shuffle=(not args.sorted),  # as in the paper, (sic)
            +    num_workers=8
             )
            """)

    def test_arguments_below_the_bracket_keep_their_column(self):
        self.assert_diff("""
            loader = DataLoader(ds,
                                shuffle=True)
            """, {"num_workers": 8, "pin_memory": True}, """
            --- train.py:1
             loader = DataLoader(ds,
            -                    shuffle=True)
            +                    shuffle=True,
            +                    num_workers=8,
            +                    pin_memory=True)
            """)

    def test_a_full_line_is_gone_on_with(self):
        self.assert_diff("""
            loader = DataLoader(
                ds, batch_size=4, shuffle=True,
            )
            """, {"num_workers": 8}, """
            --- train.py:1
             loader = DataLoader(
            -    ds, batch_size=4, shuffle=True,
            +    ds, batch_size=4, shuffle=True, num_workers=8,
             )
            """)

    def test_the_last_argument_may_be_replaced_and_followed(self):
        self.assert_diff("""
            loader = DataLoader(ds, num_workers=(2))
            """, {"num_workers": 8, "pin_memory": True}, """
            --- train.py:1
            -loader = DataLoader(ds, num_workers=(2))
            +loader = DataLoader(ds, num_workers=(8), pin_memory=True)
            """)

    def test_packed_keywords_may_hold_the_new_one(self):
        # Would catch "got multiple values for keyword argument" in the edited script.
        self.assert_diff("""
            loader = DataLoader(ds, **options)
            """, {"num_workers": 8}, """
            --- train.py:1
            -loader = DataLoader(ds, **options)
            +loader = DataLoader(ds, **{**options, "num_workers": 8})
            (Where the value of options comes from was not found, so the call is changed.)
            """)

    def test_a_keyword_beside_packed_ones_is_replaced(self):
        self.assert_diff("""
            loader = DataLoader(ds, num_workers=0, **options)
            """, {"num_workers": 8}, """
            --- train.py:1
            -loader = DataLoader(ds, num_workers=0, **options)
            +loader = DataLoader(ds, num_workers=8, **options)
            """)

    def test_a_call_without_arguments(self):
        self.assert_diff("x = DataLoader()", {"num_workers": 8}, """
            --- train.py:1
            -x = DataLoader()
            +x = DataLoader(num_workers=8)
            """)

    def test_lines_after_the_call_are_not_shown(self):
        self.assert_diff("""
            import x
            if x:
                loader = x.DataLoader(
                    ds
                ); y = 2
            z = 3
            """, {"num_workers": 8}, """
            --- train.py:3
                 loader = x.DataLoader(
            -        ds
            +        ds,
            +        num_workers=8
                 ); y = 2
            """, line=3)

    def test_the_base_class_is_given_the_instance(self):
        self.assert_diff("""
            DataLoader.__init__(self, ds, 4)
            """, {"batch_size": 8}, """
            --- train.py:1
            -DataLoader.__init__(self, ds, 4)
            +DataLoader.__init__(self, ds, 8)
            """)

    def test_nothing_to_change_shows_the_call(self):
        self.assert_diff("x = DataLoader(ds, num_workers=8)", {"num_workers": 8}, """
            --- train.py:1
             x = DataLoader(ds, num_workers=8)
            """)


class AnyLayout(Sources):
    """Whatever a call looks like, it means the same afterwards, but for what was to change."""

    def layout(self, draw):
        """A call in some layout, as text."""
        values = ["2", "(3)", "f(1, x=2)", '"a, #b)"', "[\n  1,\n]", "(\n 4  # )\n)", "'ü'"]
        places = [draw.choice(values) for _ in range(draw.randint(1, 4))]
        keywords = ["num_workers", "pin_memory", "timeout", "collate_fn"]
        names = draw.sample(keywords, draw.randint(0, 3))
        parts = places + ["%s%s%s" % (name, draw.choice(["=", " = "]), draw.choice(values))
                          for name in names]
        if draw.random() < 0.2:
            parts.append("**packed")
        between = draw.choice([", ", ",", ",\n    ", ",  # why, (not)\n    "])
        first = draw.choice(["", " ", "\n    ", "  # (why\n    "])
        last = draw.choice(["", " ", "\n", ",", ", ", ",\n", " ,  # )\n", "  # ,)\n"])
        return "DataLoader(%s%s%s)" % (first, between.join(parts), last)

    def meaning(self, text):
        """The arguments of the call, by name."""
        def called(*places, **names):
            names.update(zip(calls.PARAMETERS, places))
            return names

        return eval(text, {"DataLoader": called, "packed": {"prefetch_factor": 2},
                           "f": lambda *places, **names: (places, names)})

    def test_means_the_same(self):
        draw = random.Random(7)
        for _ in range(2000):
            text = self.layout(draw)
            changes = {name: draw.choice([8, True, None]) for name in
                       draw.sample(["num_workers", "batch_size", "prefetch_factor", "pin_memory"],
                                   draw.randint(1, 4))}
            expected = self.meaning(text)
            expected.update(changes)
            with open("x.py", "w", encoding="utf-8") as file:
                file.write("x = " + text)
            calls._find_call.cache_clear()
            calls.read.cache_clear()
            after = edits.changed(calls.find_call("x.py", 1), changes)
            self.assertEqual(self.meaning(after[4:]), expected, text + " -> " + after)


class WithoutWorkers(Sources):
    def test_what_only_workers_take_is_put_back(self):
        # Bug: a change to 0 workers that DataLoader refuses beside the call's own arguments.
        with open("x.py", "w", encoding="utf-8") as file:
            file.write("x = DataLoader(data, num_workers=4, persistent_workers=True, timeout=9,\n"
                       "               prefetch_factor=4, pin_memory=True)")
        after = edits.changed(calls.find_call("x.py", 1), {"num_workers": 0})
        self.assertEqual(after, "x = DataLoader(data, num_workers=0, persistent_workers=False, "
                                "timeout=0,\n               prefetch_factor=None, pin_memory=True)")
        fewer = edits.changed(calls.find_call("x.py", 1), {"num_workers": 2})
        self.assertIn("persistent_workers=True", fewer)
        with open("y.py", "w", encoding="utf-8") as file:
            file.write("x = DL(data, num_workers=4, persistent_workers=True)")
        after = edits.changed(calls.find_call("y.py", 1), {"num_workers": 0})
        self.assertEqual(after, "x = DL(data, num_workers=0, persistent_workers=False)")


class Doubt(Sources):
    """Where the call can't be changed for sure, a sentence says what to set."""

    def assert_sentence(self, text, changes=None):
        path = self.write(text)
        self.assertEqual(source.diff(path, 1, changes or {"num_workers": 8}),
                         "train.py:1: in the DataLoader that is made here, set num_workers=8.")

    def test_two_packed_arguments(self):
        self.assert_sentence("x = DataLoader(ds, **a, **b)")

    def test_places_behind_a_star(self):
        self.assert_sentence("x = DataLoader(*given)")

    def test_a_generator_without_brackets(self):
        self.assert_sentence("x = DataLoader(i for i in y)")

    def test_two_loaders_in_a_line_that_python_does_not_tell_apart(self):
        # Bug: until Python 3.10, which knows no column, the last one was changed.
        self.assert_sentence("x, y = DataLoader(a, num_workers=2), DataLoader(b, num_workers=2)")

    def test_a_text_that_is_no_python(self):
        self.assert_sentence("x = DataLoader(ds) ?")

    def test_a_line_without_a_call(self):
        self.assert_sentence("x = 3")

    def test_calls_that_nothing_tells_apart(self):
        # Would catch an edit of trainer.fit().
        self.assert_sentence("x = run(make(ds))")

    def test_no_file(self):
        self.assertEqual(source.diff("<string>", 3, {"num_workers": 8, "pin_memory": True}),
                         "<string>:3: in the DataLoader that is made here, "
                         "set num_workers=8, pin_memory=True.")

    def test_no_site(self):
        self.assertEqual(source.change(None, {"num_workers": 8})["diff"],
                         "Where the DataLoader is made, set num_workers=8.")

    def test_a_library_makes_it(self):
        path = self.write("trainer.train(num_workers=2)")
        site = source.Site(path, 1, maker="transformers")
        self.assertEqual(source.change(site, {"num_workers": 8})["diff"],
                         "train.py:1: transformers makes this DataLoader: "
                         "set TrainingArguments(dataloader_num_workers=8).")
        site = source.Site(path, 1, maker="lightning")
        self.assertIn("lightning makes this DataLoader: set num_workers=8",
                      source.change(site, {"num_workers": 8})["diff"])
        self.assertFalse(site.is_loader_call)
        self.assertIsNone(site.name)

    def test_of_webdataset_takes_what_dataloader_takes(self):
        # Bug: a sentence in the place of a patch, since the library might not accept the keyword.
        path = self.write("loader = webdataset.WebLoader(data, batch_size=None, num_workers=1)\n")
        site = source.Site(path, 1, maker="webdataset")
        told = source.change(site, {"num_workers": 8, "persistent_workers": True})
        self.assertIn("+loader = webdataset.WebLoader(data, batch_size=None, num_workers=8, "
                      "persistent_workers=True)", told["diff"])

    def test_a_library_s_function_is_given_no_keyword_that_it_may_not_know(self):
        path = self.write("loader = create_loader(ds, num_workers=2)")
        site = source.Site(path, 1, maker="timm")
        self.assertEqual(site.name, "loader")
        self.assertIn("+loader = create_loader(ds, num_workers=8)",
                      source.change(site, {"num_workers": 8})["diff"])
        self.assertIn("timm makes this DataLoader",
                      source.change(site, {"num_workers": 8, "pin_memory": True})["diff"])


    def test_a_library_s_function_is_given_what_it_has_parameters_for(self):
        # Bug: "timm makes this DataLoader: set num_workers=8, prefetch_factor=4 where it takes its
        # settings from", as timm's function takes the one and not the other; and nothing to apply.
        text = "loader = create_loader(ds, 2, num_workers=%d)"
        called = ("create_loader", Parameters(("dataset", "batch_size", "num_workers"),
                                              ("dataset", "batch_size", "num_workers", "pin_memory")))
        site = source.Site(self.write(text % 1), 1, maker="timm", called=called)
        told = source.change(site, {"num_workers": 8, "prefetch_factor": 4, "pin_memory": True},
                             now={"num_workers": 1})
        self.assertIn("+loader = create_loader(ds, 2, num_workers=8, pin_memory=True)", told["diff"])
        self.assertIn("(create_loader of timm takes no prefetch_factor, so it stays as it is.)", told["diff"])
        self.assertIn("+loader", told["patch"])
        told = source.change(site, {"prefetch_factor": 4})
        self.assertIn("timm makes this DataLoader: set prefetch_factor=4", told["diff"])

    def test_a_library_s_argument_by_place_is_changed_there(self):
        # Bug: a second value for one parameter.
        called = ("loaders", Parameters(("self_", "num_workers"), ("self_", "num_workers")))
        site = source.Site(self.write("a, b = loaders(ds, 2)"), 1, maker="kit", called=called)
        self.assertIn("+a, b = loaders(ds, 8)",
                      source.change(site, {"num_workers": 8}, now={"num_workers": 2})["diff"])

    def test_a_value_that_a_library_has_changed_is_left_to_the_user(self):
        # Bug: 8 for each of two ranks, where the user's 4 had become 2.
        called = ("create_loader", Parameters((), ("num_workers",)))
        site = source.Site(self.write("create_loader(num_workers=4)"), 1, maker="timm", called=called)
        told = source.change(site, {"num_workers": 8}, now={"num_workers": 2})
        self.assertIn("timm makes this DataLoader: set num_workers=8", told["diff"])
        self.assertIsNone(told["patch"])


class Change(Sources):
    def test_tells_what_decides_a_keyword_today(self):
        path = self.write("""
            import x
            self.train_dl = DataLoader(ds, 4, num_workers=x.get(
                "workers"))
            """)
        change = source.change(source.Site(path, 2), {"num_workers": 8, "batch_size": 8,
                                                      "pin_memory": True})
        self.assertEqual(change["old"], {"num_workers": 'x.get( "workers")', "batch_size": "4",
                                         "pin_memory": None})
        self.assertEqual((change["file"], change["line"], change["name"]),
                         (path, 2, "self.train_dl"))


class Names(Sources):
    def name(self, text, line=1):
        return source.find_call(self.write(text), line).name

    def test_what_a_loader_is_assigned_to(self):
        self.assertEqual(self.name("train_loader = DataLoader(ds)"), "train_loader")
        self.assertEqual(self.name("self.dl: Any = DataLoader(ds)"), "self.dl")
        self.assertEqual(self.name("dl = wrap(DataLoader(ds), 3)"), "dl")
        self.assertEqual(self.name("model, dl = prepare(model, DataLoader(ds))"), "dl")
        self.assertEqual(self.name("a, b = make(ds), DataLoader(ds)"), "b")
        self.assertEqual(self.name('dls = {"a": 1, "b": DataLoader(ds)}'), 'dls["b"]')
        self.assertEqual(self.name("dls = {x: DataLoader(x) for x in y}"), "dls")
        self.assertEqual(self.name("fit(model, train=DataLoader(ds))"), "train")
        self.assertEqual(self.name("print(dl := DataLoader(ds))"), "dl")
        self.assertEqual(self.name("def train_dl(self):\n  return DataLoader(ds)", 2), "train_dl()")
        self.assertEqual(self.name("def dls(self):\n  return 1, DataLoader(ds)", 2), "dls()[1]")

    def test_no_name_where_it_is_assigned_to_nothing(self):
        self.assertIsNone(self.name("for x in DataLoader(ds): pass"))
        self.assertIsNone(self.name("make = lambda: DataLoader(ds)"))
        self.assertIsNone(self.name("DataLoader(ds)"))


class Find(Sources):
    def function(self, text, line, **options):
        found = source.find_call(self.write(text), line, **options)
        return found and found.source.of(found.node.func)

    def test_the_call_that_covers_a_line(self):
        text = """
            a = wrap(data.DataLoader(
                make(x), batch_size=f(3)
            ), other(4))
            b = Loader(make(ds))
            """
        self.assertEqual(self.function(text, 1), "data.DataLoader")
        self.assertEqual(self.function(text, 2), "data.DataLoader")
        self.assertEqual(self.function(text, 4, class_name="Loader"), "Loader")
        self.assertIsNone(self.function(text, 5))

    def test_without_a_name_the_keywords_tell(self):
        self.assertEqual(self.function("x = loader_class(Dataset(x), batch_size=3)", 1),
                         "loader_class")

    def test_the_super_class_is_the_loader(self):
        self.assertEqual(self.function("super().__init__(f(ds), num_workers=2)", 1),
                         "super().__init__")

    def test_what_is_no_file(self):
        self.assertIsNone(source.find_call("<stdin>", 1))
        self.assertIsNone(source.find_call(os.path.join(self.folder.name, "none.py"), 1))


class CallSite(Sources):
    def site(self, text, **scope):
        return self.run_script(text, **scope)["loader"].site

    def test_the_line_of_the_script(self):
        site = self.site("""
            x = 1
            loader = DataLoader(
                dict(),
                num_workers=x)
            """)
        self.assertEqual((os.path.basename(site.file), site.line), ("train.py", 2))
        self.assertEqual(str(site), "train.py:2")
        self.assertEqual(site.name, "loader")
        self.assertIsNone(site.maker)
        self.assertTrue(site.is_loader_call)

    @unittest.skipUnless(HAS_POSITIONS, "Python tells columns since 3.11")
    def test_the_column_tells_calls_in_one_line_apart(self):
        scope = self.run_script("loader, b = DataLoader(1), DataLoader(2)")
        self.assertEqual((scope["loader"].site.name, scope["b"].site.name), ("loader", "b"))
        self.assertIn("-", source.change(scope["b"].site, {"num_workers": 3})["diff"])
        self.assertIn("DataLoader(1), DataLoader(2, num_workers=3)",
                      source.change(scope["b"].site, {"num_workers": 3})["diff"])

    @unittest.skipUnless(HAS_POSITIONS, "Python tells columns since 3.11")
    def test_a_class_by_another_name(self):
        site = self.site("""
            loader_class = DataLoader
            loader = loader_class(dict(a=(1)))
            """)
        self.assertIn("+loader = loader_class(dict(a=(1)), num_workers=3)",
                      source.change(site, {"num_workers": 3})["diff"])

    def test_a_subclass_of_the_user_s_is_where_it_calls_its_base(self):
        site = self.site("""
            class Mine(DataLoader):
                def __init__(self, x):
                    super().__init__(x, num_workers=2)
            loader = Mine(3)
            """)
        self.assertEqual((site.line, site.maker), (3, None))
        self.assertIn("+        super().__init__(x, num_workers=3)",
                      source.change(site, {"num_workers": 3})["diff"])

    def test_the_keys_of_configs_are_known(self):
        # Bug: `cfg` within make(cfg.data) was taken for the whole config.
        class Config:
            def __init__(self, key=None):
                self.key = key

            def _get_full_key(self, _):
                if self.key is None:
                    raise ValueError("it has none")
                return self.key

        class NotThereYet:
            __slots__ = ()

        Config.__module__ = "omegaconf.dictconfig"
        text = """
            def make(self, cfg, other):
                return DataLoader(cfg)
            def main(cfg, workers):
                return make(held, data, Config())
            loader = main(Config(""), 3)
            """
        scope = {"Config": Config, "data": Config("data"), "held": NotThereYet()}
        with mock.patch.dict(sys.modules, {"omegaconf": None}):
            self.assertEqual(self.site(text, **scope).configs[:3], ({"cfg": "data"}, {"cfg": ""}, {}))
            scope["held"] = types.SimpleNamespace(cfg=Config("data.train"), number=3)
            self.assertEqual(self.site(text, **scope).configs[0], {"self.cfg": "data.train", "cfg": "data"})

    def library(self, text, name):
        """A function `make` of a library, as transformers' Trainer would be."""
        scope = {"__name__": name + ".data", "DataLoader": hook()}
        exec(textwrap.dedent(text), scope)
        return scope["make"]

    def test_a_library_that_makes_it_for_the_user_is_named(self):
        make = self.library("def make(x): return DataLoader(x)", "transformers")
        site = self.site("loader = make(1)", make=make)
        self.assertEqual((site.line, site.maker), (1, "transformers"))
        self.assertFalse(site.is_loader_call)

    def test_the_parameters_of_a_library_s_function_are_known(self):
        make = self.library("""
            def make(x, workers=2, *, num_workers=1):
                return DataLoader(x)
            """, "transformers")
        site = self.site("loader = make(1, num_workers=1)", make=make)
        self.assertEqual(site.called, ("make", Parameters(("x", "workers"),
                                                          ("x", "workers", "num_workers"))))
        self.assertIn("+loader = make(1, num_workers=3)", source.change(site, {"num_workers": 3})["diff"])
        make = self.library("def make(x, **more): return DataLoader(x)", "transformers")
        self.assertIsNone(self.site("loader = make(1)", make=make).called)

    def test_a_library_s_subclass_is_made_by_the_user(self):
        make = self.library("""
            class make(DataLoader):
                def __init__(self, x): super().__init__(x)
            """, "torch")
        site = self.site("loader = make(1)", make=make)
        self.assertIsNone(site.maker)
        self.assertTrue(site.is_loader_call)

    def test_installed_packages_count_where_nothing_else_is(self):
        scope = {"DataLoader": hook(), "__name__": "app"}
        file = "/x/lib/python3/site-packages/app.py"
        exec(compile("loader = DataLoader(1)", file, "exec"), scope)
        # This test is the user's code here, so that the installed package is passed over.
        self.assertEqual(scope["loader"].site.maker, "app")
        self.assertEqual(os.path.basename(scope["loader"].site.file), "test_source.py")

    def test_a_program_that_is_installed_is_the_user_s(self):
        folder = os.path.join(self.folder.name, "site-packages")
        os.mkdir(folder)
        self.write("""
            import sys
            sys.path.insert(0, sys.argv[1])
            import test_source
            print(test_source.hook()(1).site)
            """, os.path.join("site-packages", "app.py"))
        tests, package = pathlib.Path(__file__).parent, pathlib.Path(source.OWN_FOLDER).parent
        printed = subprocess.run([sys.executable, "-m", "app", str(tests.resolve())],
                                 cwd=folder, env=dict(os.environ, PYTHONPATH=str(package)),
                                 stdout=subprocess.PIPE, check=True, timeout=60).stdout
        self.assertEqual(printed.decode().strip(), "app.py:4")


if __name__ == "__main__":
    unittest.main()
