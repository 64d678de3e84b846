"""How Sphinx builds the site: ``make docs``."""

import inspect
import os
import re
import sys
import warnings
from pathlib import Path

import metasampler

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("MPLBACKEND", "Agg")

project = "metasampler"
author = "The metasampler developers"
copyright = "the metasampler developers"
version = release = metasampler.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
# The page of a study with one part has its tables, of level 3, right below the title.
suppress_warnings = ["myst.header"]

autosummary_generate = True
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
# Python programs show the short name; the page says which package it is from.
add_module_names = False
# Nor does the list of methods beside a page repeat the class.
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "metasampler"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    # All but the pages of results, whose tables need the width. A page may match one pattern only.
    "secondary_sidebar_items": {"[!r]**": ["page-toc"]},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    # Nothing is fetched from elsewhere: the site opens from disk.
    "use_edit_page_button": False,
}
# These pages have no section: without the empty bar programs have the whole width.
html_sidebars = {"index": [], "start": []}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    # Programs that need an extra of gigabytes are shown and not run here.
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.LearningOrder",
    # A picture needs no name of the object that drew it.
    "capture_repr": (),
    "matplotlib_animations": (True, "jshtml"),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    # What is not run has no picture of its own.
    "default_thumb_file": "_static/growth-light.png",
    "doc_module": ("metasampler",),
    "backreferences_dir": "generated/backreferences",
}
# Figures are drawn without a window.
warnings.filterwarnings("ignore", message=".*non-interactive.*")


def _skip_foreign(app, what, name, obj, skip, options):
    """Leave out what scikit-learn's base classes add: its own site describes it."""
    if what == "class" and inspect.isroutine(obj):
        module = getattr(inspect.unwrap(obj), "__module__", "") or ""
        if not module.startswith("metasampler"):
            return True
    return skip


def _link_to_the_gallery(app, docname, source):
    """Let links to example programs, which a clone has, lead to their pages in the gallery."""
    up = "../" * docname.count("/")
    text = re.sub(r"\]\((?:\.\./)+examples/README\.rst\)", f"]({up}gallery/index.rst)", source[0])
    source[0] = re.sub(r"\]\((?:\.\./)+examples/(\w+)\.py\)", rf"]({up}gallery/\1.rst)", text)


def setup(app):
    """Register what Sphinx calls while it reads pages and docstrings."""
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("source-read", _link_to_the_gallery)
