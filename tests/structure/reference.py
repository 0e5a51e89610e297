# SPDX-License-Identifier: Apache-2.0
"""docs/reference.md: what a program may use, made of the headers' own comments by Doxygen.

    python3 tests/structure/reference.py --write     # writes the page anew

As a test: the page is what the headers say today, and nothing on it lacks a comment. Prints TAP.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from harness import CUDA, INCLUDE, ROOT, Tap, headers

PAGE = ROOT / "docs/reference.md"
# What the pages of docs/ tell programs to use, by the header to include; all else may change.
# A header counts whole unless names of it are given.
SECTIONS = (
    ("feedrate/loader.hpp", "The loader", (
        "load/loader", "load/options: LoaderOptions automatic", "data/order: OrderOptions Cursor", "data/shard",
        "load/epoch: EpochOf", "load/lease: Lease", "load/batch: Batch BatchLayout", "load/slab: Slab SlabKind", "load/source: Source", "load/batch_copy", "load/health: Health FeedLimit",
        "load/counters", "load/sample_error: SampleError", "load/skips: Skip")),
    ("feedrate/loader.hpp", "Datasets", (
        "data/dataset: Dataset Named Stored Field Layout Sample BatchPlace",
        "core/tensor: DType Shape TensorView", "core/random: Random", "core/half", "core/error: Fault Error OutOfMemory",
        "data/in_memory", "data/npy: NpyFile", "data/synthetic", "data/delayed_dataset: DelayedDataset")),
    ("feedrate/feedrate.hpp", "Folders of images", (
        "data/image/image_folder: ImageFolder", "data/image/augment: ImageOptions Transform",
        "data/image/color: ColorJitter FactorRange", "data/image/crop: CropRange",
        "data/folder_listing: FolderListing", "data/image/pixels: PixelFormat ChannelOrder")),
    ("feedrate/sources.hpp", "Sources and samplers", (
        "load/sources/selected: select split Split", "load/sources/joined: concat repeat", "load/sources/zipped: zip",
        "load/sources/mapped: map", "load/sources/cached: cache", "data/sampler", "data/samplers")),
    ("feedrate/stream.hpp", "Streams", (
        "load/stream/stream_loader", "load/stream/options: StreamOptions", "load/stream/stream",
        "load/stream/source_stream: SourceStream stream_of")),
    ("feedrate/dlpack.hpp", "DLPack", ("dlpack: to_dlpack from_dlpack dlpack::ManagedTensor",)),
    ("feedrate/compare.hpp", "Comparing", (
        "compare/compare: compare", "compare/comparison: CompareOptions Comparison", "compare/conclusion: Conclusion LossLimits",
        "compare/sequential_test: TestOptions")),
    ("feedrate/tune.hpp", "Tuning", (
        "tune/program/in_program: tune", "tune/program/program: ProgramOptions Tuned", "tune/state/outcome: Confidence", "tune/state/options: Progress",
        "measure/statistics: Interval", "core/config: Config Precision Tier Preprocess StartMethod")),
    ("feedrate/report_batch.hpp", "Reporting to autotune", ("report_batch",)),
    ("feedrate/cuda/feed.hpp", "Feeding a GPU", ("cuda/feed: cuda::Feed", "cuda/upload: cuda::FeedOptions", "cuda/pinned")),
)
# What the concept Dataset says of each dataset.
OF_DATASETS = {"size", "layout", "load", "name", "stored", "touch", "evict"}
# Types that the page names and does not describe, and why.
ELSEWHERE = {
    "Cost": "a name inside of DelayedDataset",
    "Device": "as DLPack declares it", "Tensor": "as DLPack declares it", "Version": "as DLPack declares it",
    "Outcome": "all that was measured, as docs/report.md describes it",
    "Round": "as docs/report.md describes it",
    "SlotOwner": "loaders alone make a Lease",
    "Space": "values of what Config has, by the same names",
}
# Others write types and initializers with other blanks.
DOXYGEN = "1.9.4"
# What each type has and C++ defines.
USUAL = re.compile(r"operator(=|==|\*|\+\+|<=>)|~")


def path_of(header):
    beside = pathlib.Path("feedrate") / (header + ".hpp")
    return INCLUDE / beside if (INCLUDE / beside).exists() else CUDA / beside


def doxygen_version():
    if shutil.which("doxygen") is None:
        return ""
    return subprocess.run(["doxygen", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def run_doxygen(folder):
    """Everything that Doxygen says of the headers, by id."""
    headers = [str(path_of(entry.partition(":")[0])) for _, _, entries in SECTIONS for entry in entries]
    # Doxygen does not know inline namespaces in nested definitions.
    (folder / "Doxyfile").write_text("""INPUT = %s
INPUT_FILTER = "sed s/feedrate::inline.v0/feedrate/"
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
HIDE_UNDOC_RELATIONS = YES
WARNINGS = NO
QUIET = YES
OUTPUT_DIRECTORY = %s
""" % (" ".join(headers), folder))
    # Paths below the folder in which it runs would be relative.
    subprocess.run(["doxygen", "Doxyfile"], cwd=folder, check=True, capture_output=True)
    return [xml.parse(path).getroot() for path in sorted((folder / "xml").glob("*.xml"))
            if path.name not in ("index.xml", "Doxyfile.xml")]


def words_of(element):
    """The text of an element on one line."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def comment_of(entity):
    """A comment as Markdown: paragraphs, and programs as they are indented."""
    parts = []
    for name in ("briefdescription", "detaileddescription", "inbodydescription"):
        for paragraph in entity.findall(name + "/para"):
            text, programs = paragraph.text or "", []
            for child in paragraph:
                if child.tag in ("verbatim", "preformatted"):
                    programs.append("".join(child.itertext()))
                elif child.tag == "programlisting":
                    programs.append("\n".join(map(line_text, child.findall("codeline"))))
                elif child.tag == "computeroutput":
                    text += "`" + "".join(child.itertext()) + "`"
                else:
                    text += "".join(child.itertext())
                text += child.tail or ""
            if text.strip():
                parts.append(" ".join(text.split()))
            parts += ["```cpp\n%s\n```" % program.strip("\n") for program in programs]
    return "\n\n".join(parts)


def line_text(line):
    """A line of a program; Doxygen writes its blanks as elements."""
    text = ""
    for part in line.iter():
        text += " " if part.tag == "sp" else part.text or ""
        if part is not line:
            text += part.tail or ""
    return text


def declaration_of(member):
    """As it is written in the header, on one line."""
    kind = member.get("kind")
    name = member.findtext("name")
    kind_of_type = words_of(member.find("type"))
    if kind == "function":
        static = "static " if member.get("static") == "yes" and "static" not in kind_of_type else ""
        return static + ("%s %s%s" % (kind_of_type, name, member.findtext("argsstring") or "")).strip()
    if kind == "variable":
        return ("%s %s %s" % (kind_of_type, name, words_of(member.find("initializer")))).strip()
    if kind == "typedef":
        return words_of(member.find("definition")) or "using %s" % name
    if kind == "enum":
        return "enum class %s" % name
    return name


def tidy(declaration):
    """As clang-format writes it."""
    for found, wanted in ((r"\b(feedrate::|constexpr |inline |typedef )", ""), (r"< ", "<"), (r" >", ">"),
                          (r">(?=\w)", "> "), (r" ([&*]+)(?=[\w.)])", r"\1 "), (r" ([&*]+)\)", r"\1)"), (r" ([&*]+) (?=\w)", r"\1 "),
                          (r"(?<=[\w)>])=(?=[\w{\"])", " = "), (r"=\s*(default|delete)$", r"= \1"),
                          (r"([&*]+) \.\.\.", r"\1..."), (r"using \w+::", "using "), (r"\s+", " ")):
        declaration = re.sub(found, wanted, declaration)
    return declaration.strip()


class Page:
    def __init__(self, roots):
        self.compounds = [root.find("compounddef") for root in roots]
        self.missing, self.empty = [], []

    def of_header(self, entry):
        """Types, concepts and functions of one header, as they stand in it."""
        header, _, names = entry.partition(":")
        path, wanted, found = str(path_of(header)), names.split(), []
        for compound in self.compounds:
            name = compound.findtext("compoundname")
            location = compound.find("location")
            if compound.get("kind") in ("class", "struct", "concept"):
                short = name.removeprefix("feedrate::")
                if wanted and short not in wanted:
                    continue
                if location is not None and location.get("file") == path and self.is_public(name, compound):
                    found.append((int(location.get("line")), self.type(compound, name, header)))
            elif compound.get("kind") == "namespace" and "detail" not in name:
                for member in compound.iter("memberdef"):
                    place = member.find("location")
                    if wanted and member.findtext("name") not in wanted:
                        continue
                    if place is not None and place.get("file") == path and member.get("kind") != "friend":
                        found.append((int(place.get("line")), self.function(member, header)))
        texts = [text for _, text in sorted(found) if text]
        self.empty += [] if texts else [header]
        return texts

    @staticmethod
    def is_public(name, compound):
        return "detail" not in name and compound.get("prot", "public") == "public" and "<" not in name

    def type(self, compound, name, header):
        short = name.removeprefix("feedrate::")
        comment = comment_of(compound)
        if not comment:
            self.missing.append("%s: %s" % (header, short))
        lines = ["### `%s %s`" % (compound.get("kind"), short), "", comment, ""]
        for member in compound.iter("memberdef"):
            if member.get("prot") != "public" or member.get("kind") == "friend":
                continue
            text = self.member(member, short, header)
            lines += [text] if text else []
        return "\n".join(lines).rstrip()

    def member(self, member, owner, header):
        name = member.findtext("name")
        declaration, comment = tidy(declaration_of(member)), comment_of(member)
        if USUAL.search(name) or "= delete" in declaration or "= default" in declaration:
            return ""
        if name in OF_DATASETS and not comment:
            return ""
        says_itself = name == owner.rpartition("::")[2] or member.get("kind") == "typedef"
        if not comment and not says_itself:
            self.missing.append("%s: %s::%s" % (header, owner, name))
        values = ", ".join("`%s`" % value.findtext("name") for value in member.findall("enumvalue"))
        told = " ".join(part for part in (comment.replace("\n\n", " "), values) if part)
        return "- `%s`%s" % (declaration, ": " + told if told else "")

    def function(self, member, header):
        name = member.findtext("name")
        if USUAL.search(name):
            return ""
        comment = comment_of(member)
        if not comment:
            self.missing.append("%s: %s" % (header, name))
        values = [(value.findtext("name"), words_of(value.find("briefdescription")) or
                   words_of(value.find("detaileddescription"))) for value in member.findall("enumvalue")]
        lines = ["### `%s`" % tidy(declaration_of(member)), "", comment]
        lines += [""] if values else []
        lines += ["- `%s`%s" % (value, ": " + text if text else "") for value, text in values]
        return "\n".join(lines).rstrip()

    def text(self):
        parts = ["""# Reference

    $ python3 tests/structure/reference.py --write

writes this page. It lists what programs may use, with the headers' comments; [library.md](library.md) is the introduction. Everything
is in the namespace `feedrate`. `namespace detail`, and headers that are not named here, may change at any time. Sizes are in
samples unless a name or a comment says bytes; times are in seconds."""]
        for include, title, headers in SECTIONS:
            parts.append("## %s\n\n`#include <%s>`" % (title, include))
            for header in headers:
                parts += self.of_header(header)
        return "\n\n".join(parts) + "\n"


def unexplained_types(text):
    """The project's types in declarations on the page that have no entry there."""
    entries = re.findall(r"^### `(?:class|struct|enum class|enum|using|concept|union) ([\w:]+)", text, re.M)
    explained = {entry.rpartition("::")[2] for entry in entries} | set(ELSEWHERE)
    named = {word for declared in re.findall(r"^(?:- |### )`([^`]*)`", text, re.M)
             for word in re.findall(r"\b[A-Z][a-z]\w+", declared)}
    declared = re.compile(r"^(?:template.*>\s*)?(?:class|struct|enum class|using|concept) (\w+)", re.M)
    ours = {name for root in (INCLUDE, CUDA) for header in headers(root)
            for name in declared.findall((root / header).read_text())}
    return sorted(named & ours - explained)


def main():
    tap = Tap()
    version = doxygen_version()
    if not version.startswith(DOXYGEN):
        print("ok 1 - docs/reference.md is what the headers say # SKIP it is made by Doxygen %s, here is %s\n1..1"
              % (DOXYGEN, version or "none"))
        return
    with tempfile.TemporaryDirectory() as folder:
        page = Page(run_doxygen(pathlib.Path(folder)))
        text = page.text()
    if "--write" in sys.argv:
        PAGE.write_text(text)
    # Bug: a reference that tells of what is no longer there, or leaves out what is new.
    tap.check("docs/reference.md is what the headers say: --write makes it anew",
              "" if PAGE.exists() and PAGE.read_text() == text else "it differs")
    # Bug: a name that is gone, or a page without content that equals itself.
    tap.check("every header of it has something", page.empty)
    # Bug: a type that users need for what is on the page, and that is nowhere explained.
    tap.check("every type that it names is on it", unexplained_types(text))
    # Bug: a function that users have, and nobody explains.
    tap.check("everything on it has a comment", page.missing)
    tap.finish()


if __name__ == "__main__":
    main()
