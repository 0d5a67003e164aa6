// What the page asks of its worker: one question at a time, and of those that wait only the last.

class Solver {
  constructor(arm, told) {
    this.told = told;
    this.busy = false;
    this.next = null;
    const address = URL.createObjectURL(new Blob([SOLVER], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => {
      this.busy = false;
      this.told(data.answer ?? null, data.error ?? "");
      if (this.next) this.ask(this.next);
    };
    this.worker.onerror = (event) => this.told(null, `the solver has stopped: ${event.message || "it could not be started"}`);
    this.worker.postMessage({ arm });
  }

  ask(question) {
    if (this.busy) {
      this.next = question;
      return;
    }
    this.next = null;
    this.busy = true;
    this.worker.postMessage({ ask: question });
  }
}
