// The worker of the page of an arm: answers with frequencies and one mode, and what is asked aside; the solver stands
// before this text.

let given = null, last = { key: "", arm: null };

// The arm at these values, which is kept: most questions are about the last one.
function at(values) {
  const key = JSON.stringify(values);
  if (last.key !== key) last = { key, arm: setValues(given, values) };
  return last.arm;
}

// Milliseconds after which the answer to a question about many cells is given, however few are solved; modes at most.
const AT_A_TIME = 100, MOST_MODES = 40;

// The modes with two values set: as many as are asked for, and those below `high` and one more. Null where no arm has them.
function cell(values, names, pair, modes, high) {
  try {
    const arm = setValues(at(values), { [names[0]]: pair[0], [names[1]]: pair[1] });
    const { omega, certified } = frequencies(arm, high > 0 ? Math.min(MOST_MODES, Math.max(modes, countBelow(arm, high) + 1)) : modes);
    return { omega, certified };
  } catch {
    return null;
  }
}

const ASIDE = {
  frequencies: ({ values, modes }) => ({ ...frequencies(at(values), modes), places: places(at(values)) }),
  slopes: ({ values, omega, addresses }) => slopes(at(values), omega, addresses),
  receptances: ({ values, omega, first, second, loss, own }) => receptances(at(values), omega, first, second, loss, own),
  cells: ({ values, names, pairs, modes, high }) => {
    const begin = performance.now(), found = [];
    for (const pair of pairs) {
      found.push(cell(values, names, pair, modes, high));
      if (performance.now() - begin > AT_A_TIME) break;
    }
    return found;
  },
  along: ({ values, addresses, value, modes }) => along(at(values), addresses, value, modes),
};

function answered({ kind, values, modes, mode, points, ...more }) {
  if (kind) return ASIDE[kind]({ values, modes, ...more });
  const begin = performance.now();
  const arm = at(values);
  const found = frequencies(arm, modes);
  const answer = { ...found, values, places: places(arm), drawn: null, why: "" }, several = found.omega.length;
  try {
    if (mode >= several) throw new Error(several ? `The springs of this arm allow ${several} modes: there is no mode ${mode + 1}.` : "");
    answer.drawn = shape(arm, found.omega[mode], points);
  } catch (error) {
    answer.why = error.message;
  }
  return { ...answer, ms: performance.now() - begin };
}

self.onmessage = ({ data: { arm, ask } }) => {
  try {
    if (arm) {
      given = loadArm(arm);
      last = { key: "", arm: null };
    } else postMessage({ answer: answered(ask) });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
