import { type StepResult } from './steps.js';

const NAME_WIDTH = 13;
const FIGURE_WIDTH = 11;

/** The C tool's table. */
export function stepTable(steps: readonly StepResult[]): string {
  const lines = steps.map(({ step, totalUs, maxUs, minUs, perConnectionUs }) => {
    const figures = [totalUs / 1000, maxUs / 1000, minUs, perConnectionUs];
    const columns = figures.map((figure) => figure.toFixed(2).padStart(FIGURE_WIDTH));
    return `${step.padEnd(NAME_WIDTH)}: ${columns.join('')}`;
  });
  return ['step              total ms     max ms     min us  us / conn', ...lines, ''].join('\n');
}
