/** `verbena dump`: the RoCE packets of a capture file, for people and for programs. */
import { createReadStream } from 'node:fs';
import { Command, Option } from 'commander';
import { CaptureError, CaptureReader } from '../../device/wire/index.js';
import { Conversations, dissectors } from '../../protocols/dissect/index.js';
import { fileFailure, tool, ToolError } from '../kit/errors.js';
import { processStreams, type StandardStreams } from '../kit/output.js';
import { formatDetail } from './detail.js';
import { examine, type Examined, withMeaning } from './examine.js';
import { formatJson } from './json.js';
import { formatLine } from './line.js';
import { Summary } from './summary.js';

export interface DumpOptions {
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const PIECE_BYTES = 1 << 18;
const EXIT_WRONG_ICRC = 1;
const EXIT_UNREADABLE = 2;

/** Which file, and why it could not be read. */
function readFailure(file: string, error: unknown): Error {
  const name = file === '-' ? 'standard input' : file;
  if (error instanceof CaptureError) {
    return new ToolError(`${name}: ${error.message}`, EXIT_UNREADABLE, { cause: error });
  }
  return fileFailure(name, 'read', error, EXIT_UNREADABLE);
}

/** The file in pieces as they come, so that a capture can be read while it is made. */
async function* pieces(file: string, streams: StandardStreams): AsyncGenerator<Uint8Array> {
  const stream: AsyncIterable<unknown> =
    file === '-' ? streams.input : createReadStream(file, { highWaterMark: PIECE_BYTES });
  for await (const piece of stream) {
    if (!(piece instanceof Uint8Array)) throw new TypeError('a file came as text');
    yield piece;
  }
}

function formatterFor(options: DumpOptions): (examined: Examined) => string {
  if (options.json) return formatJson;
  if (options.verbose) return (examined) => `${formatLine(examined)}\n${formatDetail(examined)}`;
  return formatLine;
}

/** Prints a capture. @returns the exit status. @throws ToolError when the file cannot be read to its end */
export async function dump(file: string, options: DumpOptions, streams: StandardStreams): Promise<number> {
  const format = formatterFor(options);
  const reader = new CaptureReader();
  const summary = new Summary();
  const conversations = new Conversations(dissectors());
  let frames = 0;
  let startNs = 0n;
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    const text = lines.map((line) => `${line}\n`).join('');
    lines = [];
    if (text !== '') await streams.print(text);
  };
  let failure: Error | undefined;
  try {
    for await (const piece of pieces(file, streams)) {
      for (const record of reader.push(piece)) {
        if (frames === 0) startNs = record.timestampNs;
        frames += 1;
        const examined = examine(record, frames, startNs);
        summary.count(examined);
        if (typeof examined !== 'string') lines.push(format(withMeaning(examined, conversations)));
      }
      await flush();
    }
    reader.end();
  } catch (error) {
    failure = readFailure(file, error);
  }
  // What came before the damage is worth as much as if the file had ended there.
  await flush();
  if (failure === undefined || frames > 0) streams.complain(`${summary.toString()}\n`);
  if (failure !== undefined) throw failure;
  return summary.anyWrong ? EXIT_WRONG_ICRC : 0;
}

export function command(): Command {
  return new Command('dump')
    .description('Print the RoCE packets of a capture file, a line each, and check every ICRC.')
    .argument('FILE', 'a pcap or pcapng file; - reads standard input, live as well')
    .option('-v, --verbose', 'show every field of every header')
    .addOption(new Option('--json', 'print one JSON object a line').conflicts('verbose'))
    .addHelpText(
      'after',
      '\nExits with 0 when every ICRC is right, 1 when one is wrong, 2 when the file cannot be read to its end.' +
        '\nA summary goes to standard error. Live: tcpdump -U -w - udp port 4791 | verbena dump -',
    )
    .action(
      tool(async (file: string, options: DumpOptions) => {
        process.exitCode = await dump(file, options, processStreams);
      }),
    );
}
