/** `verbena dump`: the RoCE packets of a capture file, for people and for programs. */
import { Command, Option } from 'commander';
import {
  BTH_BYTES,
  FlowTable,
  getU24,
  IcrcVerdict,
  PacketCursor,
  type PacketView,
  Shape,
  type SkippedFrames,
} from '../../device/wire/index.js';
import { captureFailure, capturePieces } from './capture-pieces.js';
import { tool } from '../kit/errors.js';
import { processStreams, type StandardStreams } from '../kit/output.js';
import { formatDetail } from './detail.js';
import { examine } from './examine.js';
import { formatJson } from './json.js';
import { LineFormatter } from './line.js';
import { Meanings, readPacket, type ReadPacket } from './meanings.js';

export interface DumpOptions {
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const EXIT_WRONG_ICRC = 1;
const LINES_JOINED = 64;
const GSI_QPN = 1;
const QPN_OFFSET = 5;

/** Formats the packet that a cursor is at. */
class Formatter {
  readonly #flows = new FlowTable();
  readonly #meanings = new Meanings(this.#flows);
  readonly #lines = new LineFormatter(this.#flows);

  constructor(
    private readonly cursor: PacketCursor,
    private readonly options: DumpOptions,
  ) {}

  next(): string {
    const { cursor, options } = this;
    const { packet } = cursor;
    let found: ReadPacket | undefined;
    const read = (): ReadPacket | undefined => (found ??= readPacket(packet));
    const meaning = this.#meanings.next(packet, cursor.timeNs, read);
    if (options.json) return formatJson(examine(cursor, this.#lines.addresses(packet), read(), meaning));
    const mad = this.#isForGsi() ? read()?.mad : undefined;
    const line = this.#lines.format(cursor, mad, meaning);
    return options.verbose
      ? `${line}\n${formatDetail(examine(cursor, this.#lines.addresses(packet), read(), meaning), packet)}`
      : line;
  }

  #isForGsi(): boolean {
    const { place, bytes, shape } = this.cursor.packet;
    return shape === Shape.WHOLE && getU24(bytes, place.offset + QPN_OFFSET) === GSI_QPN && place.length > BTH_BYTES;
  }
}

/** What of a file's frames was what. */
class Summary {
  packets = 0;
  wrong = 0;
  cut = 0;
  unreadable = 0;

  count({ icrc, shape }: PacketView): void {
    this.packets += 1;
    if (icrc === IcrcVerdict.WRONG) this.wrong += 1;
    if (icrc === IcrcVerdict.CUT) this.cut += 1;
    if (shape !== Shape.WHOLE) this.unreadable += 1;
  }

  /** `17 RoCE packets, 0 with a wrong ICRC; 3 other frames skipped (3 not IP: Ethertype 0x0806 (ARP))`. */
  text(skipped: SkippedFrames): string {
    const words = [`${this.packets} RoCE packets`, `${this.wrong} with a wrong ICRC`];
    if (this.cut > 0) words.push(`${this.cut} cut by the capture`);
    if (this.unreadable > 0) words.push(`${this.unreadable} unreadable`);
    return `${words.join(', ')}; ${skipped.toString()}`;
  }
}

/** Prints a capture. @returns the exit status. @throws ToolError when the file cannot be read to its end */
export async function dump(file: string, options: DumpOptions, streams: StandardStreams): Promise<number> {
  const cursor = new PacketCursor();
  const formatter = new Formatter(cursor, options);
  const summary = new Summary();
  let lines: string[] = [];
  let text = '';
  // Lines are made of many small strings, which are better gone before the engine takes them for long-lived.
  const join = (): void => {
    lines.push('');
    text += lines.join('\n');
    lines = [];
  };
  const flush = async (): Promise<void> => {
    if (lines.length > 0) join();
    const joined = text;
    text = '';
    if (joined !== '') await streams.print(joined);
  };
  let failure: Error | undefined;
  try {
    for await (const piece of capturePieces(file, streams)) {
      cursor.feed(piece);
      while (cursor.next()) {
        summary.count(cursor.packet);
        if (lines.push(formatter.next()) === LINES_JOINED) join();
      }
      await flush();
    }
    cursor.end();
  } catch (error) {
    failure = captureFailure(file, error);
  }
  // What came before the damage is worth as much as if the file had ended there.
  await flush();
  if (failure === undefined || cursor.frames.count > 0) streams.complain(`${summary.text(cursor.skipped)}\n`);
  if (failure !== undefined) throw failure;
  return summary.wrong > 0 ? EXIT_WRONG_ICRC : 0;
}

export function command(): Command {
  return new Command('dump')
    .description('Print the RoCE packets of a capture file, a line each, and check every ICRC.')
    .argument('FILE', 'a pcap or pcapng file, also compressed by gzip; - reads standard input, live as well')
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
