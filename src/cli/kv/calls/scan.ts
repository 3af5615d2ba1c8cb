import { once } from 'node:events';
import { Command, Option } from 'commander';
import { wholeNumber } from '../../kit/options.js';
import { bytesFact, endUnlessPrinted, lineText } from '../common/bytes.js';
import { failingDistinctly, kvTool } from '../common/failure.js';
import { reach, type ReachFlags, withServer } from '../common/reach.js';

interface ScanFlags extends ReachFlags {
  readonly prefix: string;
  readonly limit?: number;
  readonly null?: true;
  readonly json?: true;
}

/** How each key is printed. */
function formOf(flags: ScanFlags): (key: Uint8Array) => string | Uint8Array {
  if (flags.json === true) return (key) => `${JSON.stringify(bytesFact('key', key))}\n`;
  if (flags.null === true) return (key) => Buffer.concat([key, Buffer.from([0])]);
  return (key) => `${lineText(key)}\n`;
}

async function scan(flags: ScanFlags): Promise<void> {
  const { prefix, limit = Infinity } = flags;
  const form = formOf(flags);
  await using client = await reach(flags);
  let left = limit;
  for await (const key of client.scan({ prefix })) {
    if (!process.stdout.write(form(key), endUnlessPrinted)) await once(process.stdout, 'drain');
    left -= 1;
    if (left === 0) break;
  }
}

export function scanCommand(): Command {
  const base = failingDistinctly(new Command('scan'))
    .description('Print the keys, one on a line, in no order, while others come and go.')
    .option('--prefix <text>', 'those that begin with it', '')
    .addOption(new Option('--limit <n>', 'so many, and no more').argParser(wholeNumber(1, 2 ** 32)))
    .addOption(
      new Option('-0, --null', 'end each by a zero byte, and print it as it is, for xargs -0').conflicts('json'),
    )
    .option('--json', 'print a JSON object for each');
  return withServer(base)
    .addHelpText(
      'after',
      `
In lines, control characters and bytes that are no text are printed as \\xNN, and a backslash as \\x5c.

To end all sessions:
  verbena kv scan --prefix session: -0 | xargs -0 verbena kv del`,
    )
    .action(kvTool(scan));
}
