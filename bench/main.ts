/**
 * `npm run bench`: where the software NIC stands, in one table, beside what the UDP socket alone gives (the floor), what
 * node:net gives (what programs use today), and what other libraries for the same purpose give.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { join } from 'node:path';
import { stacks } from './measure/rdma.js';
import { isInstalled, type Tool } from './measure/tool.js';
import { readOptions } from './options.js';
import { AIMS, standingOf } from './report/aims.js';
import { curvesOf, PLOTS } from './report/curves.js';
import { flameSvg } from './report/flame.js';
import { FLAMES } from './report/flames.js';
import { plotSvg } from '../src/cli/kit/plot.js';
import { markdownOf } from './report/markdown.js';
import type { Result } from './report/result.js';
import { figureOf } from './report/statistics.js';
import { aimLine, missingLine, ProgressLine, rowLine } from './report/table.js';
import { FULL, QUICK, sectionsOf } from './sections/index.js';
import type { Row, Section } from './sections/section.js';

const options = readOptions();
const progress = new ProgressLine();

function asked(section: Section): Section {
  const words = options.only.map((word) => word.toLowerCase());
  const has = (text: string): boolean => words.some((word) => text.toLowerCase().includes(word));
  if (words.length === 0 || has(section.title)) return section;
  return { ...section, rows: section.rows.filter(({ id, what }) => has(id) || has(what)) };
}

const sections = sectionsOf(options.quick ? QUICK : FULL)
  .map(asked)
  .filter(({ rows }) => rows.length > 0);
const total = sections.reduce((sum, { rows }) => sum + rows.length, 0);

if (options.list) {
  for (const { title, rows } of sections)
    console.log([title, ...rows.map(({ id, what }) => `  ${id.padEnd(32)}${what}`)].join('\n'));
  process.exit(0);
}

const results: Result[] = [];
const missing = new Set<Tool>();
let failures = 0;
let begun = 0;

async function measureRow(section: string, { id, what, unit, measure, needs, problem }: Row): Promise<string> {
  begun += 1;
  if (needs !== undefined && !isInstalled(needs)) {
    missing.add(needs);
    return missingLine(what, `needs ${needs.program}`);
  }
  if (problem !== undefined) return missingLine(what, problem);
  progress.show(`${begun} of ${total}: ${section}: ${what}`);
  const rowBegun = performance.now();
  try {
    const measurement = await measure();
    const figure = figureOf(measurement.samples);
    const tookSeconds = (performance.now() - rowBegun) / 1000;
    results.push({ section, id, what, unit, ...measurement, ...figure, tookSeconds });
    return rowLine(what, unit, figure, measurement);
  } catch (error) {
    failures += 1;
    return missingLine(what, error instanceof Error ? error.message : String(error));
  }
}

const processors = `${availableParallelism()} processors (${cpus()[0]?.model.trim() ?? 'unknown'})`;
const machine = `${processors}, Linux ${release()}, Node ${process.version}`;
const started = performance.now();
console.log(`${machine}\nMedian (spread), ${options.quick ? 'quick' : 'full'} run`);
for (const { title, rows } of sections) {
  console.log(`\n${title}`);
  for (const row of rows) {
    const line = await measureRow(title, row);
    progress.clear();
    console.log(line);
  }
}

/** The median of a row, or its 99th percentile. */
function figures(id: string): number | undefined {
  const [row] = id.split('@');
  const result = results.find((one) => one.id === row);
  return row === id ? result?.median : result?.percentiles?.p99;
}
const standings = AIMS.map((aim) => standingOf(aim, figures)).filter(
  ({ met }) => options.only.length === 0 || met !== undefined,
);
if (standings.length > 0) console.log(['\nAims', ...standings.map(aimLine)].join('\n'));
for (const { program, advice } of missing) console.log(`\nNot installed: ${program} (${advice})`);
console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);

if (options.json !== undefined) {
  const aims = standings.map(({ aim, reached, verdict, met }) => ({
    what: aim.what,
    bound: aim.bound,
    unit: aim.unit,
    reached,
    met,
    verdict,
  }));
  const date = new Date().toISOString();
  writeFileSync(
    options.json,
    `${JSON.stringify({ machine, date, quick: options.quick, results, aims }, undefined, 2)}\n`,
  );
}
if (options.markdown !== undefined) writeFileSync(options.markdown, markdownOf(machine, results, standings));
if (options.svg !== undefined) {
  mkdirSync(options.svg, { recursive: true });
  for (const [kind, { file, ...plot }] of Object.entries(PLOTS)) {
    const svg = plotSvg({ ...plot, curves: curvesOf(kind, results) });
    if (svg !== undefined) writeFileSync(join(options.svg, file), svg);
  }
  // After all figures: to be looked at costs time.
  const { effort } = options.quick ? QUICK : FULL;
  for (const { file, title, ...profiled } of FLAMES)
    writeFileSync(join(options.svg, file), flameSvg(title, await stacks(profiled, effort)));
}
if (failures > 0) process.exitCode = 1;
