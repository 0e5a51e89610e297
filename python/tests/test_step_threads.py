# SPDX-License-Identifier: Apache-2.0
import ast

from feedrate import source
from test_source import Sources

LOOP = """
    import torch
    from torch.utils.data import DataLoader

    def main():
        loader = DataLoader(data, num_workers=2)
        for batch in loader:
            step(batch)
    """


class StepThreads(Sources):
    def change(self, text, line, changes=None, way=(), **more):
        path = self.write(text)
        site = source.Site(path, line, way=((path, line),) + tuple(way))
        return source.change(site, changes or {}, now={"step_threads": 8}, step_threads=1, **more)

    def assert_left_to_the_user(self, told):
        self.assertFalse(told["sets_threads"])
        self.assertNotIn("+torch.set_num_threads", told["diff"] + (told["patch"] or ""))

    def test_they_are_set_before_the_loader_is_made_in_the_same_patch(self):
        # Bug: a patch that leaves out what made the answer fast.
        told = self.change(LOOP, 5, {"num_workers": 4})
        self.assertTrue(told["sets_threads"])
        self.assertEqual(told["diff"], "\n".join([
            "--- train.py:5", "-    loader = DataLoader(data, num_workers=2)",
            "+    torch.set_num_threads(1)", "+    loader = DataLoader(data, num_workers=4)"]))
        self.assertIn("\n+    torch.set_num_threads(1)\n", told["patch"])

    def test_they_are_set_where_nothing_else_changes(self):
        told = self.change(LOOP, 5)
        self.assertTrue(told["sets_threads"])
        self.assertIn("\n+    torch.set_num_threads(1)\n", told["patch"])

    def test_the_name_of_the_import_is_used(self):
        self.assertIn("+th.set_num_threads(1)", self.change("""
            import torch as th
            loader = DataLoader(data)
            """, 2)["diff"])
        self.assertIn("+torch.set_num_threads(1)", self.change("""
            import torch.nn
            loader = DataLoader(data)
            """, 2)["diff"])

    def test_a_number_that_the_script_sets_is_replaced(self):
        # Bug: a new line above the script's own, which undoes it.
        told = self.change("""
            import torch
            loader = DataLoader(data)
            torch.set_num_threads(8)
            """, 2)
        self.assertIn("-torch.set_num_threads(8)", told["diff"])
        self.assertIn("+torch.set_num_threads(1)", told["diff"])

    def test_a_number_that_workers_set_is_not_the_step_s(self):
        # Bug: the line of worker_init_fn "changed" from 1 to 1, and the step left with its threads.
        self.assert_left_to_the_user(self.change("""
            import torch
            def init(worker): torch.set_num_threads(1)
            loader = DataLoader(data, worker_init_fn=init)
            """, 3, {"num_workers": 4}))

    def test_a_number_that_is_set_by_an_imported_name_is_found(self):
        told = self.change("""
            import torch
            from torch import set_num_threads
            set_num_threads(8)
            loader = DataLoader(data)
            """, 4)
        self.assertIn("+set_num_threads(1)", told["diff"])
        self.assertNotIn("torch.set_num_threads", told["diff"])

    def test_a_number_that_is_set_elsewhere_is_left_to_the_user(self):
        self.assert_left_to_the_user(self.change("""
            import torch
            torch.set_num_threads(args.threads)
            loader = DataLoader(data)
            """, 3, {"num_workers": 4}))

    def test_a_number_that_is_set_in_the_file_above_is_found(self):
        above = self.write("torch.set_num_threads(threads())\n", "above.py")
        self.assert_left_to_the_user(self.change(LOOP, 5, way=((above, 1),)))

    def test_a_file_without_torch_is_left_alone(self):
        self.assert_left_to_the_user(self.change("loader = DataLoader(data)", 1, {"num_workers": 4}))
        self.assert_left_to_the_user(self.change("import torch.nn as nn\nloader = DataLoader(data)", 2))

    def test_a_statement_in_the_middle_of_a_line_is_gone_around(self):
        # Bug: a line within another.
        told = self.change("""
            import torch
            if True: loader = DataLoader(data)
            """, 2)
        self.assertIn("+torch.set_num_threads(1)\n if True:", told["diff"])

    def test_where_a_line_would_be_no_python_nothing_is_written(self):
        told = self.change("""
            import torch
            if a:
                pass
            elif use(DataLoader(data)):
                pass
            """, 4)
        self.assert_left_to_the_user(told)

    def test_a_loop_over_the_call_is_behind_the_line(self):
        told = self.change("""
            import torch
            for batch in DataLoader(data, num_workers=2):
                step(batch)
            """, 2, {"num_workers": 3})
        after = [line[1:] for line in told["patch"].split("\n")[3:] if line[:1] in "+ "]
        ast.parse("\n".join(after))
        self.assertEqual(after[1:3], ["torch.set_num_threads(1)", "for batch in DataLoader(data, num_workers=3):"])

    def test_without_a_place_there_is_nothing_to_show(self):
        self.assertEqual(source.change(None, {}, step_threads=1)["diff"], "")
