"""What TraCS was compared with, repaired so that each keeps its ε, `dt.rivals`: baselines for research.

NGram, LSRR, ATP            choices among public points; `as_published` returns what their papers define
Strawman, Gridding          a walk by sectors and distances; the cells of a grid
Sectors                     a direction by k-ary randomized response on sectors
Contrast                    how LSRR's weights of near and far points follow from ε
"""

from dither.mechanisms.places.rivals import ATP, LSRR, Contrast, Gridding, NGram, Sectors, Strawman

__all__ = ["ATP", "LSRR", "Contrast", "Gridding", "NGram", "Sectors", "Strawman"]
