import { type Command, CommanderError } from 'commander';
import { sentence, tool, ToolError } from '../../kit/errors.js';

/** As with grep: scripts tell an entry that is not there from a call that failed. */
export const EXIT_ABSENT = 1;
export const EXIT_FAILED = 2;

export const EXIT_CODES_HELP =
  'Exits with 0 when that was done, 1 when there is no such entry, 2 when something failed.';

/** As `tool`: what fails exits with {@link EXIT_FAILED}. */
export function kvTool<Args extends unknown[]>(
  body: (...args: Args) => void | Promise<void>,
): (...args: Args) => Promise<void> {
  return tool(async (...args: Args) => {
    try {
      await body(...args);
    } catch (error) {
      const message = error instanceof CommanderError ? error.message : sentence(error);
      throw new ToolError(message, EXIT_FAILED, { cause: error });
    }
  });
}

/** Has wrong options and arguments exit with {@link EXIT_FAILED} too. Before subcommands are added. */
export function failingDistinctly(command: Command): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_FAILED));
}
