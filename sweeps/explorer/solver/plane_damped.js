// The determinant of a planar arm at a complex frequency, but for what springs at its ports do not change.

function evaluateDamped(arm, losses, springs) {
  const { omega } = losses, { tapes, links, written } = arm, product = new Product(), six = [sixH, sixL, new Float64Array(6), new Float64Array(6)];
  six.forEach((part) => part.fill(0));
  for (let i = links.length - 1; i >= 0; i--) {
    addSprings(springs, i, sixH, sixL);
    const own = links[i].double, start = BEFORE_WAVES + WAVES + FUNCTIONS + STIFFNESS;
    functionsOfDamped(arm, constantsOf(arm, links[i], tapes.member.double, links[i].inputs, [1, 5], losses), omega);
    for (let p = 0; p < 4; p++) {
      xq[p].fill(0, 0, BEFORE_WAVES); xq[p].fill(0, start, start + written.features.length);
      xq[p][2] = omega[p];
      xq[p].set(wq[p].subarray(0, WAVES), BEFORE_WAVES); xq[p].set(gq[p], BEFORE_WAVES + WAVES); xq[p].set(six[p], BEFORE_WAVES + WAVES + FUNCTIONS);
    }
    xh[1] = written.axial;
    [own.fixedHi, own.fixedLo].forEach((fixed, p) => { xq[p][0] = fixed[0]; for (let k = 1; k < 7; k++) xq[p][2 + k] = fixed[k]; });
    written.features.forEach((name, k) => { xh[start + k] = own.featuresHi[name]; xl[start + k] = own.featuresLo[name]; });
    if (written.loaded) for (let p = 0; p < 4; p++) xq[p][start + written.features.indexOf(LEVER)] = wq[p][LEVER_AT];
    const larger = setLaws(arm, links[i], losses, motorOf(springs, i));
    if (larger) product.times(...larger);
    runQuads(tapes.link.double, xq, fq);
    for (const k of written.factors) product.times(fq[0][k], fq[2][k]);
    for (let p = 0; p < 4; p++) six[p].set(fq[p].subarray(0, 6));
  }
  return product;
}
