# SPDX-License-Identifier: Apache-2.0
# A backend of matplotlib (MPLBACKEND=module://paddock_show): a figure that is shown becomes
# a file in out/, and is closed.
import io

import paddock_figures
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg


def save(figure):
    data = io.BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    with paddock_figures.new_file("png") as file:
        file.write(data.getvalue())


def is_open(figure):
    return any(manager.canvas.figure is figure for manager in Gcf.get_all_fig_managers())


def show(*_args, **_kwargs):
    """All open figures. matplotlib before 3.6 asks for this function."""
    try:
        for manager in Gcf.get_all_fig_managers():
            save(manager.canvas.figure)
    finally:
        Gcf.destroy_all()


class FigureManager(FigureManagerBase):
    def show(self):
        save(self.canvas.figure)
        Gcf.destroy(self)

    @classmethod
    def pyplot_show(cls, **kwargs):
        show(**kwargs)


class FigureCanvas(FigureCanvasAgg):
    manager_class = FigureManager
