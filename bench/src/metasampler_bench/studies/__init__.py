"""Studies: smaller questions than those of the specs, most of them evidence for a default."""

from metasampler_bench.studies._pages import PAGES, STUDIES, find_study, write_study_page
from metasampler_bench.studies._study import Options, Study

__all__ = ["PAGES", "STUDIES", "Options", "Study", "find_study", "write_study_page"]
