import { mebibytes } from './units.js';

interface Side {
  readonly address: string;
  readonly counters: Readonly<Record<string, number>>;
}

/** What came out of a transfer. */
export interface Summary {
  readonly name: string;
  readonly bytes: number;
  /** Time during which writes were under way. */
  readonly elapsedMs: number;
  readonly sha256: string;
  readonly sender: Side;
  readonly receiver: Side;
  readonly output?: string;
}

const WHERE_NEXT = [
  ['VERBENA_PCAP=run.pcapng npm start', 'record every packet; bin/verbena dump run.pcapng (or Wireshark) reads it'],
  ['bin/verbena ibv_rc_pingpong', 'measure round trips between two shells; the C tool of that name can be the peer'],
  ['bin/verbena lab a', 'the smallest RDMA program, to read beside labs/lab-a.md'],
  ['bin/verbena --help', 'all tools'],
] as const;

function count(side: Side, name: string): number {
  return side.counters[name] ?? 0;
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(16)}${text}\n`;
}

function countersText(side: Side): string {
  const told = Object.entries(side.counters).filter(([, value]) => value !== 0);
  return told.map(([name, value]) => `${name} ${value.toLocaleString('en')}`).join(', ');
}

/** The words that end `npm start`. */
export function summaryText(summary: Summary): string {
  const { bytes, elapsedMs, sender, receiver } = summary;
  const seconds = elapsedMs / 1000;
  const bytesPerSecond = seconds === 0 ? 0 : bytes / seconds;
  const number = (side: Side, name: string): string => count(side, name).toLocaleString('en');
  const lost = count(sender, 'retransmitted_pkts') + count(receiver, 'retransmitted_pkts');
  const width = Math.max(...WHERE_NEXT.map(([line]) => line.length));
  return [
    `Arrived: ${mebibytes(bytes)}, SHA-256 the same on both sides.\n`,
    row('throughput', `${(bytesPerSecond / 1e9).toFixed(2)} GB/s (${((bytesPerSecond * 8) / 1e9).toFixed(1)} Gbit/s)`),
    row('on the wire', `${seconds.toFixed(3)} s`),
    row('packets', `${number(sender, 'sent_pkts')} sent, ${number(sender, 'rcvd_pkts')} received by the sender`),
    row('retransmissions', `${lost.toLocaleString('en')} packets`),
    row('SHA-256', summary.sha256),
    ...(summary.output === undefined ? [] : [row('written to', summary.output)]),
    row('sender', `${sender.address}: ${countersText(sender)}`),
    row('receiver', `${receiver.address}: ${countersText(receiver)}`),
    '\nWhere to look next:\n',
    ...WHERE_NEXT.map(([line, what]) => `  ${line.padEnd(width)}  ${what}\n`),
  ].join('');
}
