/**
 * Whether a text matches a pattern as Redis has them: `*`, `?`, `[abc]`, `[^a-z]`, and `\` before what is meant as it is. What comes from strangers takes time in
 * proportion to both lengths at most.
 */
export function isGlobMatch(glob: string, text: string): boolean {
  let at = 0;
  let i = 0;
  // Where to go on when what follows the last star does not fit here.
  let afterStar = -1;
  let starFrom = 0;
  while (i < text.length) {
    if (at < glob.length && glob[at] === '*') {
      at += 1;
      afterStar = at;
      starFrom = i;
      continue;
    }
    const next = at < glob.length ? matchOne(glob, at, text[i]) : -1;
    if (next >= 0) {
      at = next;
      i += 1;
    } else if (afterStar >= 0) {
      starFrom += 1;
      i = starFrom;
      at = afterStar;
    } else return false;
  }
  while (at < glob.length && glob[at] === '*') at += 1;
  return at === glob.length;
}

/** @returns where the pattern goes on behind what matches the letter; -1 where that does not */
function matchOne(glob: string, at: number, letter: string): number {
  const sign = glob[at];
  if (sign === '?') return at + 1;
  if (sign === '[') return matchClass(glob, at + 1, letter);
  const isEscaped = sign === '\\' && at + 1 < glob.length;
  const plain = isEscaped ? at + 1 : at;
  return glob[plain] === letter ? plain + 1 : -1;
}

function matchClass(glob: string, begin: number, letter: string): number {
  const isNegated = glob[begin] === '^';
  let isIn = false;
  let at = isNegated ? begin + 1 : begin;
  for (; at < glob.length && glob[at] !== ']'; at += 1) {
    const isEscaped = glob[at] === '\\' && at + 1 < glob.length;
    if (isEscaped) at += 1;
    const from = glob[at];
    let to = from;
    // An escaped letter begins no range.
    if (!isEscaped && glob[at + 1] === '-' && at + 2 < glob.length) {
      at += 2;
      to = glob[at];
    }
    isIn ||= from <= to ? from <= letter && letter <= to : to <= letter && letter <= from;
  }
  return isIn === isNegated ? -1 : Math.min(at + 1, glob.length);
}
