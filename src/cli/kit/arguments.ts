import type { Command, Option } from 'commander';
import { isIPv6 } from 'node:net';

/** A host as the user gave it; an IPv6 address may stand in brackets, as tools print it before a port: `[::1]`. */
export function withoutBrackets(host: string): string {
  const inner = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : '';
  return isIPv6(inner) ? inner : host;
}

/** Names that C tools have for options of ours. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['--report-histogrm', '--report-histogram'],
  ['--bind_source_ip', '--source_ip'],
  ['--com_rdma_cm', '--comm_rdma_cm'],
]);

/**
 * Options that no C tool has. A prefix stands for one of them, or for an option without a line in the help, only when no
 * other option begins so.
 */
const OURS: ReadonlySet<string> = new Set([
  '--addr',
  '--host',
  '--json',
  '--link',
  '--netem',
  '--no-warm-up',
  '--pin',
  '--plot',
]);

const HELP = '--help';

/** A long option that may stand for several. */
export class AmbiguousOption extends Error {
  override readonly name = 'AmbiguousOption';

  constructor(given: string, names: readonly string[]) {
    super(`option '${given}' is ambiguous; possibilities: ${names.map((name) => `'${name}'`).join(' ')}`);
  }
}

function takesNextWord(option: Option | undefined): boolean {
  return option?.required === true;
}

interface Named {
  readonly option: string;
  /** Whether it yields to others that begin in the same way. */
  readonly yields: boolean;
}

function longNames(command: Command): ReadonlyMap<string, Named> {
  const names = new Map<string, Named>([[HELP, { option: HELP, yields: false }]]);
  for (const { long, hidden } of command.options)
    if (typeof long === 'string') names.set(long, { option: long, yields: hidden || OURS.has(long) });
  for (const [other, ours] of OTHER_NAMES) {
    const named = names.get(ours);
    if (named !== undefined && !names.has(other)) names.set(other, named);
  }
  return names;
}

/** The option that a name or its unique beginning stands for; the name itself when there is none. */
function longOption(given: string, names: ReadonlyMap<string, Named>): string {
  const exact = names.get(given);
  if (exact !== undefined) return exact.option;
  const begin = [...names].filter(([name]) => name.startsWith(given));
  // Another name counts where no option's main name begins so.
  const own = begin.filter(([name]) => !OTHER_NAMES.has(name));
  const begun = (own.length > 0 ? own : begin).map(([, named]) => named);
  const all = new Set(begun.map(({ option }) => option));
  if (all.size === 0) return given;
  const first = new Set(begun.filter(({ yields }) => !yields).map(({ option }) => option));
  if (all.size === 1 || first.size === 1) return [...(first.size === 1 ? first : all)][0];
  throw new AmbiguousOption(given, [...all]);
}

/** Of a word of short options: whether the last of them takes the next word. */
function shortTakesNextWord(word: string, command: Command): boolean {
  for (let i = 1; i < word.length; i += 1) {
    const option = command.options.find(({ short }) => short === `-${word[i]}`);
    if (option === undefined) return false;
    // What follows in the same word is the option's value.
    if (option.required || option.optional) return option.required && i === word.length - 1;
  }
  return false;
}

/**
 * Replaces unique beginnings of long options by the options' names, as getopt_long does: `--report_gbit` becomes
 * `--report_gbits`. An exact name wins. Values of options, and words after `--`, stay as they are.
 *
 * @param program whose subcommands may be named by the words
 * @param passesOn whether words from the first argument of a subcommand on belong to another program
 * @throws AmbiguousOption when several options begin so
 */
export function completeOptions(program: Command, words: readonly string[], passesOn: boolean): string[] {
  const completed: string[] = [];
  let command = program;
  let isValue = false;
  for (const [i, word] of words.entries()) {
    completed.push(word);
    if (isValue) {
      isValue = false;
    } else if (word === '--') {
      return [...completed, ...words.slice(i + 1)];
    } else if (word.startsWith('--')) {
      const [given] = word.split('=', 1);
      const name = longOption(given, longNames(command));
      completed[i] = name + word.slice(given.length);
      isValue = given === word && takesNextWord(command.options.find(({ long }) => long === name));
    } else if (word.startsWith('-')) {
      isValue = shortTakesNextWord(word, command);
    } else {
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined && passesOn) return [...completed, ...words.slice(i + 1)];
      command = next ?? command;
    }
  }
  return completed;
}
