# SPDX-License-Identifier: Apache-2.0
# Serves the runs of a notebook, for main.py without inputs. The keeper has no code of the
# notebook: cells run in the head, a child (paddock_head.py), and the notebook goes back to
# an earlier state by a sleeper, a copy of the head that was made after a cell. Words of the
# head are claims, since the code of a cell can write whatever the head can.
import gc
import os
import signal
from __main__ import ANSWERS, add_line, add_outputs, ended_by, error_of, say
from select import select

import paddock_head
from paddock_cell import INTERRUPTED, Cell, files, tell_changed
from paddock_pipes import Lines, drain
from paddock_states import Notebook, State

GRACE = 1.0  # seconds from an interrupt to the kill
KEEP_MOST = 8
COPY_AFTER = 0.004  # seconds: the answer's way to the client needs the processors first


class Keeper:
    def __init__(self):
        self.lines = Lines(ANSWERS)
        self.notebook = Notebook()

    def next_run(self):
        while True:
            run = self.lines.take("run")
            if run is not None:
                return run["run"]
            self.lines.unread.clear()  # of runs that have ended
            ready = select([self.lines.fd, self.notebook.claims.fd], [], [])[0]
            if self.notebook.claims.fd in ready:
                self.notebook.listen(None)
            if self.lines.fd in ready:
                self.lines.read()

    def turn(self, cell):
        """Waits for something to happen to CELL, and deals with that."""
        notebook = self.notebook
        ends = {ends[0]: name for name, ends in notebook.printed.items()}
        fds = [*ends, self.lines.fd, notebook.claims.fd, notebook.head.fd]
        to_write = [notebook.commands[1]] if notebook.unsent else []
        ready = select(fds, to_write, [], cell.left())
        for fd in ready[0]:
            if fd in ends:
                cell.said[ends[fd]].add(os.read(fd, 65536))
            elif fd == self.lines.fd:
                self.lines.read()
            elif fd == notebook.claims.fd:
                notebook.listen(cell)
        if ready[1]:
            notebook.write()
        cell.died = notebook.head.fd in ready[0] and cell.claim is None
        self.look_at_time(cell)

    def look_at_time(self, cell):
        cancel = self.lines.take("cancel")
        if cancel is not None and cancel["cancel"]["id"] == cell.id:
            cause, grace = cancel["cancel"]["why"], cancel["cancel"].get("graceMs", 0) / 2000
            if cell.end_by(cause, min(grace, GRACE) if cause in INTERRUPTED else 0):
                self.notebook.head.signal(signal.SIGINT)
        if cell.is_due(cell.until) and cell.end_by("timeoutMs", GRACE):
            self.notebook.head.signal(signal.SIGINT)
        if cell.is_fresh() and cell.is_due(cell.log_at):
            cell.log()

    def follow(self, cell):
        """Until CELL has ended, and all that it printed is read."""
        self.notebook.send(cell=cell.number, inputs=cell.inputs)
        self.look_at_time(cell)  # the cancel may have been read with the run
        while not cell.is_over():
            self.turn(cell)
        if cell.died:
            cell.status = self.notebook.status_of_dead()
        if cell.is_undone():
            self.notebook.kill()
        for name, ends in self.notebook.printed.items():
            drain(ends[0], cell.said[name].add)
            cell.said[name].close()
        if cell.logs:
            cell.log()

    def unfit(self, cell):
        """Why the state after CELL can have no checkpoint, or None."""
        claimed = cell.claim.get("unfit")
        if claimed is not None:
            return str(claimed)[:1000]
        left = self.notebook.started()
        if left:
            return f"{len(left)} of the processes that the code started still run"
        return None

    def answer(self, cell):
        answer = {"exitCode": cell.exit_code()}
        add_outputs(answer, cell.said)
        claim = cell.claim or {}
        error = error_of(claim.get("error"))
        if error:
            answer["error"] = error
        for key, kind in paddock_head.SHOWN.items():
            if isinstance(claim.get(key), kind):
                answer[key] = claim[key]
        if "result" in claim and not cell.is_undone():
            answer["result"] = claim["result"]
        add_line(answer, claim.get("line") if isinstance(claim.get("line"), str) else "")
        return answer

    def serve_cell(self, cell):
        self.notebook.settle()
        lost = self.revive()
        before = self.notebook.states[-1]
        self.notebook.keep = min(max(cell.inputs.get("keep", self.notebook.keep), 1), KEEP_MOST)
        self.follow(cell)
        if cell.is_undone():
            self.undo_cell(cell, before)
            return
        why, unfit = lost or cell.notebook.get("lost"), self.unfit(cell)
        told = {"state": "new" if before.is_empty() else "kept"}
        if why:
            told["why"] = why
        if unfit:
            told.update(checkpoint=False, checkpointWhy=unfit)
        self.notebook.states.append(State(cell.number, unfit))
        self.finish(cell, told, kept=True)
        select([self.lines.fd], [], [], COPY_AFTER)
        self.notebook.trim()
        if not unfit:
            self.notebook.pending = True
            self.notebook.send(checkpoint=True)
        self.notebook.states[-1].files = files()

    def revive(self):
        """A head that ended between runs is replaced. What that has lost, or None."""
        if not self.notebook.head.is_dead():
            return None
        last = self.notebook.states[-1]
        state = self.notebook.go_back()
        if state.number == last.number:
            return None
        return f"the interpreter ended between the cells; {self.tell_state(state, last)}"

    def tell_state(self, state, wanted):
        """Where the notebook is now, when that is not where it should be."""
        if state.number == wanted.number:
            return "the notebook is as it was before this cell"
        where = "empty" if state.is_empty() else f"as it was after cell {state.number}"
        return f"the notebook is {where}, since {self.tell_missing(wanted)}"

    def tell_missing(self, state):
        why = state.why or "the copy is gone"
        return f"cell {state.number} left no checkpoint: {why}"

    def undo_cell(self, cell, before):
        why = cell.why()
        changed = tell_changed(before.files, cell.inputs.get("files", {}))
        state = self.notebook.go_back()
        told = {"state": "restored", "why": f"{why}; {self.tell_state(state, before)}{changed}"}
        self.finish(cell, told, kept=False, line=self.line_of_end(cell))
        state.files = files()

    def line_of_end(self, cell):
        if cell.cause == "timeoutMs":
            return f"ended after {cell.inputs['timeoutMs']} ms, which is its timeoutMs"
        if cell.cause is None and (cell.status or 0) < 0:
            return ended_by(-cell.status)
        return ""

    def serve_undo(self, cell):
        self.notebook.settle()
        self.revive()
        no_undo = self.no_undo()
        if no_undo:
            self.refuse(cell, no_undo)
            return
        last, wanted = self.notebook.states[-1], self.notebook.states[-2]
        changed = tell_changed(wanted.files, {})
        state = self.notebook.go_back(wanted)
        further = "" if state.number == wanted.number else f"; {self.tell_state(state, wanted)}"
        why = f"cell {last.number} was undone, as asked{further}{changed}"
        cell.claim = {}
        self.finish(cell, {"state": "restored", "why": why}, kept=True)
        state.files = files()

    def no_undo(self):
        """Why the last cell cannot be undone, or None."""
        *earlier, last = self.notebook.states
        if last.is_empty():
            return "there is no cell to undo: the notebook is empty"
        if not earlier:
            most = f"{self.notebook.keep} at most can be, one after the other, as keep says"
            return f"cell {last.number} cannot be undone: {most} (1 to {KEEP_MOST}, beside code)"
        if earlier[-1].sleeper is None and not earlier[-1].is_empty():
            return f"cell {last.number} cannot be undone: {self.tell_missing(earlier[-1])}"
        return None

    def refuse(self, cell, message):
        self.fail(cell, {"kept": True, "why": message}, message, {})

    def fail(self, cell, state, message, details):
        told = {"code": "EXECUTION_ERROR", "message": message, "details": details}
        say({"state": state}, failed={"id": cell.id, **told})

    def finish(self, cell, told, kept, line=""):
        answer = self.answer(cell)
        add_line(answer, line)
        answer["notebook"] = {"name": cell.notebook.get("name", ""), "cell": cell.number, **told}
        state = {"kept": kept, **({"why": told["why"]} if "why" in told else {})}
        if cell.cause in (None, "timeoutMs"):
            say({"state": state}, result={"id": cell.id, "output": answer})
        else:
            self.fail(cell, state, f"the cell was undone: {cell.why()}", answer)

    def serve(self):
        while True:
            cell = Cell(self.next_run(), self.lines.answer_of)
            if cell.inputs.get("undo"):
                self.serve_undo(cell)
            else:
                self.serve_cell(cell)


def serve():
    """Does not return: where no run can come any more, the process ends."""
    gc.collect()
    gc.freeze()  # a collection would touch, and so copy, what all processes have in common
    keeper = Keeper()
    try:
        keeper.serve()
    except EOFError:
        keeper.notebook.end()
    finally:
        os._exit(0)
