import { Command } from 'commander';
import { VerbsError } from '../../../entry/index.js';
import type { KvCalls } from '../../../entry/kv.js';
import { ToolError } from '../../kit/errors.js';
import { printed } from '../common/bytes.js';
import { EXIT_ABSENT, EXIT_CODES_HELP, EXIT_FAILED, failingDistinctly, kvTool } from '../common/failure.js';
import { reach, type ReachFlags, withServer } from '../common/reach.js';

export interface CallResult {
  readonly isDone: boolean;
  /** For people: what is printed as it is. */
  readonly output?: Uint8Array | string | undefined;
  /** For `--json`. */
  readonly facts: object;
}

export type Words = readonly [first: string, second?: string | undefined, ...rest: string[]];

export type MadeCall = (client: KvCalls) => Promise<CallResult>;

export interface CallSpec<Flags = object> {
  readonly name: string;
  readonly description: string;
  /** Below the options: examples. */
  readonly notes?: string;
  readonly prepare: (command: Command) => Command;
  /** Before there is a client: what is wrong is said without one. */
  readonly make: (words: Words, flags: Flags) => MadeCall | Promise<MadeCall>;
}

interface CallFlags extends ReachFlags {
  readonly json?: true;
}

/** What a call gives. @throws ToolError which says what has failed under the name that the user knows */
async function namedBy(name: string, made: Promise<CallResult>): Promise<CallResult> {
  try {
    return await made;
  } catch (error) {
    const prefix = error instanceof VerbsError ? `${error.call}: ` : '';
    if (!(error instanceof VerbsError) || !error.message.startsWith(prefix)) throw error;
    throw new ToolError(`${name}: ${error.message.slice(prefix.length)}`, EXIT_FAILED, { cause: error });
  }
}

export function callCommand<Flags>({ name, description, notes, prepare, make }: CallSpec<Flags>): Command {
  const base = prepare(failingDistinctly(new Command(name)).description(description));
  const command = withServer(base).option('--json', 'print one JSON object');
  return command.addHelpText('after', `\n${notes === undefined ? '' : `${notes}\n\n`}${EXIT_CODES_HELP}`).action(
    kvTool(async () => {
      const flags = command.opts<CallFlags & Flags>();
      const [first = '', second, ...rest] = command.args;
      const call = await make([first, second, ...rest], flags);
      await using client = await reach(flags);
      const { isDone, output, facts } = await namedBy(name, call(client));
      await printed(flags.json === true ? `${JSON.stringify(facts)}\n` : (output ?? ''));
      if (!isDone) process.exitCode = EXIT_ABSENT;
    }),
  );
}
