"""matplotlib, which is asked for only when something is drawn."""

__all__ = ["COLORS", "MARKERS", "import_pyplot", "tidy"]

# Colours of Okabe and Ito, which colour-blind readers can tell apart; the markers say it again.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def import_pyplot(what: str):
    """pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(f'{what} needs matplotlib: pip install "metasampler[plot]".') from error
    return matplotlib.pyplot


def tidy(axes) -> None:
    """The look that all pictures share."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#EEEEEE", zorder=0)
    axes.set_axisbelow(True)
