import { type RpingFlags } from './flags.js';

/** What the tool prints as it goes. */
export interface Voice {
  /** To standard output, or with --json, which has that for itself, to standard error. */
  readonly say: (text: string) => void;
  /** The same, only with -d. */
  readonly debug: (text: string) => void;
  /** To standard error. */
  readonly complain: (text: string) => void;
}

export function voiceOf({ d, json }: RpingFlags): Voice {
  const stream = json === true ? process.stderr : process.stdout;
  const say = (text: string): void => void stream.write(`${text}\n`);
  const complain = (text: string): void => void process.stderr.write(`${text}\n`);
  return { say, debug: d === true ? say : () => undefined, complain };
}
