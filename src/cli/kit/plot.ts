/** Curves on logarithmic axes, as SVG: plain text, read by every browser. */

export interface Curve {
  readonly name: string;
  /** In the order in which they are joined; what has a label has it written beside it. */
  readonly points: readonly (readonly [x: number, value: number, label?: string])[];
}

export interface Axis {
  readonly label: string;
  /** Where lines are drawn, rising, from the first that is not above all values to the last that is not below. */
  readonly ticks: (values: readonly number[]) => readonly number[];
  readonly text: (tick: number) => string;
}

export interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly x: Axis;
  readonly curves: readonly Curve[];
}

const WIDTH = 960;
const HEIGHT = 520;
const LEFT = 70;
const TOP = 50;
const BOTTOM = HEIGHT - 60;
const RIGHT = 630;
const LEGEND_STEP = 24;
/** Told apart by most who see colours differently (Okabe and Ito), and by their dashes. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#7f7f7f'];
const DASHES = ['', '7 4', '2 3'];

const UNITS = [
  [1 << 20, 'MiB'],
  [1 << 10, 'KiB'],
  [1, 'B'],
] as const;

function sizeName(bytes: number): string {
  const [scale, unit] = UNITS.find(([least]) => bytes >= least) ?? UNITS[2];
  return `${bytes / scale} ${unit}`;
}

/** The sizes that were measured, each by its name. */
export const MESSAGE_SIZES: Axis = {
  label: 'bytes in a message, logarithmic',
  ticks: (values) => [...new Set(values)].sort((a, b) => a - b),
  text: sizeName,
};

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Places a value between two others, by its logarithm. */
function logScale(low: number, high: number, from: number, to: number): (value: number) => number {
  const span = Math.log(high / low);
  return (value) => (span === 0 ? (from + to) / 2 : from + ((to - from) * Math.log(value / low)) / span);
}

/** Of values above 0: 1, 2 and 5 times the powers of ten, from the last below all values to the first above. */
export function ticksFor(values: readonly number[]): readonly number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const ticks: number[] = [];
  for (let exponent = Math.floor(Math.log10(least)); ; exponent += 1) {
    for (const digit of [1, 2, 5]) {
      const tick = Number(`${digit}e${exponent}`);
      if (tick <= least) ticks.length = 0;
      ticks.push(tick);
      if (tick >= most) return ticks;
    }
  }
}

const round = (value: number): string => value.toFixed(1);

/** @returns the whole SVG document, or undefined when no curve has a point */
export function plotSvg({ title, unit, x: axis, curves: all }: Plot): string | undefined {
  // Nothing has no place on a logarithmic axis.
  const curves = all
    .map(({ name, points }) => ({ name, points: points.filter(([x, value]) => x > 0 && value > 0) }))
    .filter(({ points }) => points.length > 0);
  if (curves.length === 0) return undefined;
  const points = curves.flatMap((curve) => curve.points);
  const marks = axis.ticks(points.map(([at]) => at));
  const ticks = ticksFor(points.map(([, value]) => value));
  const x = logScale(marks[0], marks[marks.length - 1], LEFT + 20, RIGHT - 20);
  const y = logScale(ticks[0], ticks[ticks.length - 1], BOTTOM, TOP);
  const text = (atX: number, atY: number, anchor: string, words: string): string =>
    `<text x="${round(atX)}" y="${round(atY)}" text-anchor="${anchor}">${escape(words)}</text>`;
  const grid = [
    ...ticks.map((tick) => `<path class="grid" d="M${LEFT} ${round(y(tick))}H${RIGHT}"/>`),
    ...ticks.map((tick) => text(LEFT - 8, y(tick) + 4, 'end', `${tick}`)),
    ...marks.map((mark) => `<path class="grid" d="M${round(x(mark))} ${TOP}V${BOTTOM}"/>`),
    ...marks.map((mark) => text(x(mark), BOTTOM + 20, 'middle', axis.text(mark))),
  ];
  const drawn = curves.map(({ name, points: own }, i) => {
    const dash = DASHES[Math.floor(i / COLOURS.length) % DASHES.length];
    const stroke = `stroke="${COLOURS[i % COLOURS.length]}"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}`;
    const places = own.map(([at, value]) => [round(x(at)), round(y(value))] as const);
    const labels = own.flatMap(([at, value, label]) =>
      label === undefined ? [] : [text(x(at) + 6, y(value) - 6, 'start', label)],
    );
    const legendY = TOP + 10 + i * LEGEND_STEP;
    return [
      `<polyline class="curve" ${stroke} points="${places.map(([px, py]) => `${px},${py}`).join(' ')}"/>`,
      ...places.map(([px, py]) => `<circle cx="${px}" cy="${py}" r="3" fill="${COLOURS[i % COLOURS.length]}"/>`),
      ...labels,
      `<path class="curve" ${stroke} d="M${RIGHT + 20} ${legendY}h28"/>`,
      text(RIGHT + 56, legendY + 4, 'start', name),
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">
<title>${escape(title)}</title>
<style>text{font:13px sans-serif;fill:#222}.title{font-size:17px}.grid{stroke:#ddd;fill:none}.curve{stroke-width:2;fill:none}</style>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text class="title" x="${LEFT}" y="28">${escape(title)}</text>
${grid.join('\n')}
${text(LEFT - 8, TOP - 8, 'end', unit)}
${text((LEFT + RIGHT) / 2, BOTTOM + 46, 'middle', axis.label)}
${drawn.join('\n')}
</svg>
`;
}
