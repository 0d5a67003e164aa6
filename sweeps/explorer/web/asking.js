// What the page asks of its worker: one question at a time. Of those about the arm only the last waits; what is asked
// aside comes after it, in turn, and is forgotten when the arm changes.

class Solver {
  constructor(arm, told) {
    this.told = told;
    this.current = null; // whom the answer is for, while the worker is busy
    this.next = null;
    this.later = [];
    const address = URL.createObjectURL(new Blob([SOLVER], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.onmessage = ({ data }) => {
      const { current } = this;
      this.current = null;
      current(data.answer ?? null, data.error ?? "");
      this.goOn();
    };
    this.worker.onerror = (event) => this.told(null, `the solver has stopped: ${event.message || "it could not be started"}`);
    this.worker.postMessage({ arm });
  }

  ask(question) {
    this.next = question;
    this.later = [];
    if (this.current && this.current !== this.told) this.current = () => {};
    this.goOn();
  }

  aside(question, told) {
    this.later = this.later.filter((other) => other.question.kind !== question.kind);
    this.later.push({ question, told });
    this.goOn();
  }

  goOn() {
    if (this.current) return;
    const { next } = this;
    if (next) {
      this.next = null;
      this.post(next, this.told);
    } else if (this.later.length > 0) {
      const { question, told } = this.later.shift();
      this.post(question, told);
    }
  }

  post(question, told) {
    this.current = told;
    this.worker.postMessage({ ask: question });
  }
}
