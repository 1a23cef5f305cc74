"""Settings of Sphinx for the site that ``docs/website.py`` builds."""

project = "Priming"
author = "The Priming authors"
extensions = ["myst_parser"]
root_doc = "index"
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = ["misc.highlighting_failure"]
html_theme = "furo"
html_title = "Priming"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_opensearch = ""
html_show_copyright = False
