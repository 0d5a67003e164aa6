// Values as sliders have them: places of steps, degrees for angles.

// A slider has this many steps; one more, at its end, is a rigid joint.
const STEPS = 1000;
const DEGREE = Math.PI / 180;

const inSi = (slider, value) => (slider.unit === "degree" ? value * DEGREE : value);
const shownValue = (slider, value) => (slider.unit === "degree" ? value / DEGREE : value);

function valueAt({ low, high, logarithmic, rigid }, place) {
  if (rigid && place > STEPS) return Infinity;
  const share = place / STEPS;
  return logarithmic ? low * (high / low) ** share : low + share * (high - low);
}

function placeOf({ low, high, logarithmic }, value) {
  if (value === Infinity) return STEPS + 1;
  const share = logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.max(0, Math.min(STEPS, Math.round(share * STEPS)));
}
