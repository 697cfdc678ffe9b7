"""Settings of the documentation site: `make docs` builds it in build/site/.

The source folder is the root of the repository, so that links between pages, and from pages to
sources, are the same on the site and where the repository is browsed.
"""

import re
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parent
ROOT = SITE.parents[1]
sys.path.insert(0, str(SITE / "extensions"))

project = "Kempe"
copyright = "the Kempe authors"
release = re.search(r'KEMPE_VERSION "(.+)"', (ROOT / "include/kempe/version.hpp").read_text())[1]
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "breathe",
              "sphinx_copybutton", "headers", "mathml", "readable_python"]
root_doc = "docs/index"
include_patterns = ["docs/**.md", "benchmarks/README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = ["build", ".venv", ".git", "docs/site", "tests", "src", "python"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

add_module_names = False
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
# Extras of the package.
autodoc_mock_imports = ["casadi", "crocoddyl", "jax", "matplotlib", "torch", "trimesh", "viser"]
python_use_unqualified_type_names = True

# The C++ reference comes from the public headers, by way of Doxygen's XML.
breathe_projects = {"kempe": str(ROOT / "build" / "doxygen" / "xml")}
breathe_default_project = "kempe"

nitpicky = True
# Types of NumPy and Eigen have no page here.
nitpick_ignore_regex = [("cpp:.*", ".*"), ("py:.*", ".*")]

html_theme = "furo"
html_title = f"Kempe {release}"
# Formulas need a font with mathematical measures, which few systems have: the site brings one
# (SIL Open Font License; Debian's fonts-stix).
html_static_path = ["static", "/usr/share/fonts/opentype/stix-word/STIXMath-Regular.otf"]
html_css_files = ["kempe.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
copybutton_prompt_text = "$ "
