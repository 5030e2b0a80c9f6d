"""A notebook: compile a network, look at its schedule, change the chip, look again.

Open it with `marimo edit examples/look_at_a_network.py`; as a script it runs all cells.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="full", app_title="Look at a network")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo

    import xdsl_tpu as xt

    return Path, mo, xt


@app.cell
def _(mo):
    mo.md("""
    # Where do the cycles go?

    A network becomes a program for a BM1684X. No number of it is computed to say how long it takes.
    """)
    return


@app.cell
def _(Path, mo):
    folder = mo.notebook_dir() or Path("examples")
    networks = sorted(path.stem for path in folder.glob("*.onnx"))
    network = mo.ui.dropdown(networks, value="mobilenetv2_100", label="network")
    quantize = mo.ui.dropdown(["F16", "BF16", "F32"], value="F16", label="number format")
    mo.hstack([network, quantize], justify="start")
    return folder, network, quantize


@app.cell
def _(folder, network, quantize, xt):
    model = folder / f"{network.value}.onnx"
    program = xt.compile(model, quantize.value)
    program
    return model, program


@app.cell
def _(program):
    timing = program.time()
    timing
    return (timing,)


@app.cell
def _(mo, program):
    report = program.report()
    rows = [
        {"layer": row["name"], "op": row["op"], "cycles": row["cycles"]}
        for row in report.layers[:10]
    ]
    mo.ui.table(rows, label="the layers that move the end of the run most")
    return (report,)


@app.cell
def _(report):
    report  # the page: both engines over time, banks, layers, roofline
    return


@app.cell
def _(mo):
    mo.md("""
    ## Another chip

    Lanes compute, the DDR feeds them. Which of the two does this network wait for?
    """)
    return


@app.cell
def _(mo):
    lanes = mo.ui.dropdown({"32": 32, "64": 64, "128": 128}, value="32", label="lanes")
    ddr = mo.ui.slider(8, 128, value=58, label="bytes loaded from DDR per cycle")
    mo.hstack([lanes, ddr], justify="start")
    return ddr, lanes


@app.cell
def _(ddr, lanes, model, quantize, xt):
    figures = {"lanes": lanes.value, "ddr_load": ddr.value}
    other = xt.compile(model, quantize.value, chip=figures)
    other
    return (other,)


@app.cell
def _(mo, other, timing):
    ratio = other.time().cycles / timing.cycles
    mo.md(f"{other.time()}: **{ratio:.2f}** of the cycles of a BM1684X")
    return (ratio,)


@app.cell
def _(other, program):
    other.report(against=program)
    return


if __name__ == "__main__":
    app.run()
