// What is shown stands in the address, so that Back undoes it; a page within another one, as in a notebook, has none, and
// keeps its steps itself.

const OWN_ADDRESS = location.protocol !== "about:";
const past = [];
let kept = "";

const addressNow = () => (OWN_ADDRESS ? location.hash : kept);

function keepAddress(address, step) {
  if (!OWN_ADDRESS) {
    if (step) past.push(kept);
    kept = address;
  } else if (step) history.pushState((history.state ?? 0) + 1, "", address);
  else history.replaceState(history.state, "", address);
}

// The button and Ctrl+Z; `read` shows what the address says. Steps of other pages are not undone.
function offerUndo(read) {
  const undo = () => {
    if (OWN_ADDRESS) {
      if (history.state > 0) history.back();
    } else if (past.length > 0) {
      kept = past.pop();
      read();
    }
  };
  byId("undo").addEventListener("click", undo);
  addEventListener("keydown", (event) => {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.target.type === "number") return;
    event.preventDefault();
    undo();
  });
}
