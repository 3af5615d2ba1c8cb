/** Stacks as a flame graph, in SVG: each frame as wide as its share of the time, on top of whoever called it. */

export interface Frame {
  readonly name: string;
  /** With everything that it called. */
  readonly us: number;
  readonly children: readonly Frame[];
}

const WIDTH = 1200;
const TOP = 44;
const ROW = 18;
/** Narrower frames are left out, with what stands on them. */
const LEAST_PIXELS = 0.5;
const PIXELS_PER_LETTER = 6.6;
/** By the folder that a function is from, after the rooms of the house; whatever is not ours is grey. */
const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/ src\/link\//, '#f0b37e'],
  [/ src\/nic\//, '#e88d67'],
  [/ src\/(wire|spec)\//, '#f4d58d'],
  [/ src\/(soft|verbs)\//, '#a3c4bc'],
  [/ src\/host\//, '#8fb8de'],
  [/ bench\//, '#cfcfe8'],
];
const OTHERS = '#d9d9d9';

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The same function called by the same one is one frame, however many places call it; the widest come first. */
function merged(frames: readonly Frame[]): Frame[] {
  const byName = new Map<string, Frame>();
  for (const { name, us, children } of frames) {
    const same = byName.get(name);
    byName.set(
      name,
      same === undefined
        ? { name, us, children }
        : { name, us: same.us + us, children: [...same.children, ...children] },
    );
  }
  return [...byName.values()].sort((a, b) => b.us - a.us);
}

/** @returns the whole SVG document */
export function flameSvg(title: string, root: Frame): string {
  const boxes: string[] = [];
  let depth = 0;
  const share = (us: number): string => `${((100 * us) / root.us).toFixed(1)} %`;
  const draw = (frame: Frame, x: number, level: number): void => {
    const width = (WIDTH * frame.us) / root.us;
    if (width < LEAST_PIXELS) return;
    depth = Math.max(depth, level + 1);
    const y = TOP + level * ROW;
    const colour = COLOURS.find(([room]) => room.test(frame.name))?.[1] ?? OTHERS;
    const short = frame.name.split(' ')[0].slice(0, Math.max(0, Math.floor((width - 6) / PIXELS_PER_LETTER)));
    boxes.push(
      `<g><title>${escape(frame.name)}: ${share(frame.us)}</title>` +
        `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0, width - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colour}"/>` +
        (short.length > 2 ? `<text x="${(x + 3).toFixed(1)}" y="${y + 13}">${escape(short)}</text>` : '') +
        '</g>',
    );
    let at = x;
    for (const child of merged(frame.children)) {
      draw(child, at, level + 1);
      at += (WIDTH * child.us) / root.us;
    }
  };
  draw(root, 0, 0);
  const height = TOP + depth * ROW + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${escape(title)}</title>
<style>text{font:11px monospace;fill:#222}.title{font:17px sans-serif}</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text class="title" x="8" y="28">${escape(title)}</text>
${boxes.join('\n')}
</svg>
`;
}
