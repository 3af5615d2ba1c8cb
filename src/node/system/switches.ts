export const SWITCHES = ['VERBENA_NATIVE', 'VERBENA_STATS'] as const;
export type Switch = (typeof SWITCHES)[number];

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['yes', true],
  ['true', true],
  ['1', true],
  ['off', false],
  ['no', false],
  ['false', false],
  ['0', false],
]);

/** Whether a setting is off. What is no word for on or off leaves it on; {@link switchProblem} says so. */
export function isOff(name: Switch): boolean {
  return WORDS.get((process.env[name] ?? '').toLowerCase()) === false;
}

/** The first setting that is neither on nor off, as a sentence without its end; undefined when all are right. */
export function switchProblem(): string | undefined {
  for (const name of SWITCHES) {
    const value = process.env[name] ?? '';
    if (value !== '' && !WORDS.has(value.toLowerCase())) return `${name} is '${value}'`;
  }
  return undefined;
}

export const SWITCH_ADVICE = 'Give on or off; yes, no, true, false, 1 and 0 mean the same';
