import { isIPv6 } from 'node:net';
import { Command, Option } from 'commander';
import { connect, type Context, openDevice } from '../../entry/index.js';
import { tool, ToolError } from '../kit/errors.js';
import { endOnInterrupt } from '../kit/interrupt.js';
import { checkWritable } from '../kit/new-file.js';
import { openOptions, wholeNumber } from '../kit/options.js';
import { EndMemory, Endpoint } from './endpoint.js';
import { decodeGrant, encodeOffer } from './messages.js';
import { noProgress, type Progress, showProgress } from './progress.js';
import { ReceiverHandle } from './receiver-handle.js';
import { Sender, type SendResult } from './sender.js';
import { fromFile, madeOnTheFly, type Source } from './source.js';
import { type Summary, summaryText } from './summary.js';
import { amount, MIB } from '../kit/output.js';

interface TransferOptions {
  readonly size?: number;
  readonly host?: 'thread' | 'inline';
  readonly from?: string;
  readonly to?: string;
  readonly output?: string;
  readonly json?: true;
}

/** Memory that each end gives: the file goes through it in legs, so a file of any size fits. */
const LEG_BYTES = 64 * MIB;
const DEFAULT_MIB = 256;

function refuseMixedFamilies(from: string, to: string): void {
  if (isIPv6(from) === isIPv6(to)) return;
  throw new ToolError(`Sender and receiver need addresses of one family, not ${from} and ${to}.`);
}

async function move(
  source: Source,
  receiver: ReceiverHandle,
  context: Context,
  progress: Progress,
  options: TransferOptions,
): Promise<Summary> {
  const { to, output, host, json } = options;
  const { sizeBytes } = source;
  const memory = new EndMemory(context, Math.min(LEG_BYTES, sizeBytes), 0);
  const { address, port } = await receiver.start({
    kind: 'start',
    ...(host === undefined ? {} : { host }),
    ...(to === undefined ? {} : { address: to }),
    ...(output === undefined ? {} : { output }),
  });
  refuseMixedFamilies(context.address, address);
  const privateData = encodeOffer({ totalBytes: sizeBytes, legBytes: LEG_BYTES });
  const connection = await receiver.during(connect({ context, host: address, port, ...memory.options, privateData }));
  const end = new Endpoint(context, memory, connection);
  if (json === undefined) {
    process.stdout.write(
      `Moving ${amount(sizeBytes)} (${source.name}) from ${context.address} (process ${process.pid}) ` +
        `to ${address} by RDMA WRITE over RoCEv2:\n`,
    );
  }
  progress.start();
  let result: SendResult;
  try {
    result = await receiver.during(new Sender(end, decodeGrant(connection.privateData), source, progress).run());
  } finally {
    progress.stop();
  }
  // The receiver has finished once the connection has ended.
  const [receiverCounters] = await Promise.all([receiver.finish(), end.close()]);
  const counters = { ...context.counters() };
  const { elapsedMs, digest } = result;
  return {
    name: source.name,
    bytes: sizeBytes,
    elapsedMs,
    sha256: digest,
    sender: { address: context.address, counters },
    receiver: { address, counters: receiverCounters },
    ...(output === undefined ? {} : { output }),
  };
}

async function transfer(file: string | undefined, options: TransferOptions): Promise<void> {
  const { from: addr, host, json, size, output } = options;
  if (file !== undefined && size !== undefined)
    throw new ToolError(`--size ${size} is for bytes made on the fly, and ${file} has its own size: give one of them.`);
  if (output !== undefined) checkWritable(output);
  const source = file === undefined ? madeOnTheFly((size ?? DEFAULT_MIB) * MIB) : fromFile(file, output);
  const context = openDevice(
    openOptions({
      ...(host === undefined ? {} : { host }),
      ...(addr === undefined ? {} : { addr }),
    }),
  );
  const progress = json === true ? noProgress : showProgress(source.sizeBytes);
  const receiver = new ReceiverHandle();
  endOnInterrupt(() => {
    // Leaves the terminal as it was.
    progress.stop();
    process.stderr.write('Interrupted.\n');
    return receiver.kill();
  });
  try {
    const summary = await move(source, receiver, context, progress, options);
    process.stdout.write(json === true ? `${JSON.stringify(summary)}\n` : summaryText(summary));
  } catch (error) {
    await receiver.kill();
    throw error;
  } finally {
    source.close();
    context.close();
  }
}

export function command(): Command {
  return new Command('transfer')
    .description(
      'Move a file from a sender process to a receiver process by RDMA WRITE over RoCEv2, and check its SHA-256 there.',
    )
    .argument('[file]', 'what to move; without it, bytes made on the fly')
    .option(
      '--size <MiB>',
      `how much to make on the fly (default: ${DEFAULT_MIB}; not with a file)`,
      wholeNumber(0, 1 << 20),
    )
    .option('-o, --output <file>', 'where the receiver puts what arrives (default: it is only checked)')
    .option('--from <address>', "the sender's IP address (default: VERBENA_ADDR, or a free loopback address)")
    .option('--to <address>', "the receiver's IP address (default: a free loopback address)")
    .addOption(
      new Option('--host <how>', 'where both NICs run: in threads of their own, or inline').choices([
        'thread',
        'inline',
      ]),
    )
    .option('--json', 'print one JSON object')
    .action(tool(transfer));
}
