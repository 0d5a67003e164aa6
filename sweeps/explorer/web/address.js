// What is shown stands in the address, so that Back undoes it; a page within another one, as in a notebook, has none.

const OWN_ADDRESS = location.protocol !== "about:";

function keepAddress(address, step) {
  if (!OWN_ADDRESS) return;
  if (step) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
