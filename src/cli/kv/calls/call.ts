import { Command } from 'commander';
import { VerbsError } from '../../../entry/index.js';
import type { KvCalls } from '../../../entry/kv.js';
import { ToolError } from '../../kit/errors.js';
import { printed } from '../common/bytes.js';
import { EXIT_ABSENT, EXIT_CODES_HELP, EXIT_FAILED, failingDistinctly, kvTool } from '../common/failure.js';
import { reach, type ReachFlags, withServer } from '../common/reach.js';

/** What came of a call. */
export interface CallResult {
  /** Whether there was what the call was about. */
  readonly isDone: boolean;
  /** For people: what is printed as it is. */
  readonly output?: Uint8Array | string | undefined;
  /** For `--json`. */
  readonly facts: object;
}

/** The arguments, in their order. */
export type Words = readonly [first: string, second?: string | undefined, ...rest: string[]];

/** A client's call. */
export type MadeCall = (client: KvCalls) => Promise<CallResult>;

/** A subcommand that makes one call and ends. */
export interface CallSpec<Flags = object> {
  readonly name: string;
  readonly description: string;
  /** Below the options: examples. */
  readonly notes?: string;
  /** Adds arguments and options. */
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

/** The subcommand of a call. */
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
