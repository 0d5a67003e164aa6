"""How Sphinx makes a site of the pages: ``sphinx-build -nW --keep-going -c docs . site`` in the project's folder.

The source folder is the project's, so that links between pages, results and the README are the same here and in a
checkout. Tables of commands and keys are written from the program while the site is built.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import jaxmodal  # noqa: E402

project = "jaxmodal"
copyright = "the jaxmodal maintainers"
version = release = jaxmodal.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_tables"]
root_doc = "docs/index"
include_patterns = [
    *("docs/*.md", "docs/**/*.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("benchmarks/README.md", "results/**/*.md"),
]
exclude_patterns = ["**/.venv*", "site"]
html_theme = "furo"
html_title = f"jaxmodal {release}"
html_extra_path = ["front", "../llms.txt"]
html_copy_source = False
html_show_copyright = False
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
# types in docstrings are words ("array of 3 numbers"), and attributes of several results have one name
nitpick_ignore_regex = [("py:class", ".*")]
suppress_warnings = ["ref.python"]
