# SPDX-License-Identifier: Apache-2.0
# What is told of the value of a cell's last expression: its text, a table of a frame of
# pandas, and what it shows of itself, as Jupyter has it. Pictures become files in out/.
import base64
import io
import json
import math
import sys

TEXT_MOST = 65536  # characters of a text
TABLE_MOST = 1 << 20  # and of a table, as JSON
ROWS_MOST, COLUMNS_MOST, CELL_MOST = 50, 50, 500

# the formats that are files, the best first, with the end of the name
FILES = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/svg+xml": "svg",
    "image/gif": "gif",
    "image/webp": "webp",
    "application/pdf": "pdf",
    "text/html": "html",
}
METHODS = {  # in the order in which they are asked
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_svg_": "image/svg+xml",
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_json_": "application/json",
}


def cut(text):
    if len(text) <= TEXT_MOST:
        return text
    half = TEXT_MOST // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters are left out here]\n{text[-half:]}"


# ---- frames of pandas ----


def frame_of(value):
    """VALUE as a frame, or None."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not hasattr(pandas, "DataFrame"):
        return None
    if isinstance(value, pandas.DataFrame):
        return value
    return value.to_frame() if isinstance(value, pandas.Series) else None


def plain(value):
    """VALUE in JSON: a text where JSON has nothing for it."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = str(value)
    return None if text in ("NaT", "<NA>") else text[:CELL_MOST]


def label(value):
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def table_of(frame):
    part = frame.iloc[:ROWS_MOST, :COLUMNS_MOST]
    rows = [[plain(cell) for cell in row] for row in part.itertuples(index=False, name=None)]
    return {
        "columns": [label(name)[:CELL_MOST] for name in part.columns],
        "index": [label(name)[:CELL_MOST] for name in part.index],
        "rows": rows,
        "shape": list(frame.shape),
    }


def markdown_row(cells):
    texts = ("" if cell is None else str(cell) for cell in cells)
    return "| " + " | ".join(t.replace("|", "\\|").replace("\n", " ") for t in texts) + " |"


def markdown_of(table):
    columns = ["", *table["columns"]]
    lines = [markdown_row(columns), "|" + " --- |" * len(columns)]
    lines += [markdown_row([name, *row]) for name, row in zip(table["index"], table["rows"])]
    rows, wide = table["shape"]
    if rows > len(table["rows"]) or wide > len(table["columns"]):
        lines.append(f"\n{rows} rows, {wide} columns in all")
    return "\n".join(lines)


# ---- what a value shows of itself ----


def bundle_of(value):
    """What VALUE shows, by format."""
    method = getattr(type(value), "_repr_mimebundle_", None)
    if method is not None:
        shown = method(value)
        shown = shown[0] if isinstance(shown, tuple) else shown
        if isinstance(shown, dict) and shown:
            return shown
    for name, kind in METHODS.items():
        method = getattr(type(value), name, None)
        shown = None if method is None else method(value)
        if shown is not None:
            return {kind: shown[0] if isinstance(shown, tuple) else shown}
    return {}


def put_file(data, extension):
    import paddock_figures

    with paddock_figures.new_file(extension) as file:
        file.write(data)


def bytes_of(shown):
    """A picture is bytes, or these in base 64; any other file is text."""
    return shown if isinstance(shown, (bytes, bytearray)) else base64.b64decode(shown)


def save_shown(bundle):
    """The best picture of BUNDLE, or the page, as a file."""
    kind = next((kind for kind in FILES if kind in bundle), None)
    if kind is None:
        return False
    shown = bundle[kind]
    is_text = kind in ("image/svg+xml", "text/html") and isinstance(shown, str)
    put_file(shown.encode() if is_text else bytes_of(shown), FILES[kind])
    return True


def save_picture(value):
    """A figure that matplotlib does not show by itself, or a picture of PIL."""
    pyplot, image = sys.modules.get("matplotlib.figure"), sys.modules.get("PIL.Image")
    if pyplot is not None and isinstance(value, pyplot.Figure):
        import paddock_show

        if not paddock_show.is_open(value):
            paddock_show.save(value)
    elif image is not None and isinstance(value, image.Image):
        data = io.BytesIO()
        value.save(data, format="PNG")
        put_file(data.getvalue(), "png")


def add_shown(told, value):
    bundle = bundle_of(value)
    if not save_shown(bundle):
        save_picture(value)
    markdown, shown = bundle.get("text/markdown"), bundle.get("application/json")
    if isinstance(markdown, str):
        told["markdown"] = cut(markdown)
    if isinstance(shown, (dict, list)) and len(json.dumps(shown, allow_nan=False)) <= TEXT_MOST:
        told["json"] = shown


def add_table(told, frame):
    table = table_of(frame)
    told["markdown"] = cut(markdown_of(table))
    if len(json.dumps(table)) <= TABLE_MOST:
        told["table"] = table


def told(value):
    """What is told of VALUE; nothing, as in Jupyter, of None."""
    if value is None:
        return {}
    told = {"value": cut(repr(value))}
    try:
        frame = frame_of(value)
        if frame is not None:
            add_table(told, frame)
        else:
            add_shown(told, value)
    except Exception as error:  # the text remains
        print(f"the value could not be shown: {type(error).__name__}: {error}", file=sys.stderr)
    return told
