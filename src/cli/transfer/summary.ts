import { amount, rate } from '../kit/output.js';

interface Side {
  readonly address: string;
  readonly counters: Readonly<Record<string, number>>;
}

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
  ['bin/verbena lab 3 receiver', 'an exercise with a grader: a file by rdma_cm; labs/lab-3.md has the rest'],
  ['bin/verbena --help', 'all tools'],
] as const;

function count(side: Side, name: string): number {
  return side.counters[name] ?? 0;
}

function grouped(value: number): string {
  return value.toLocaleString('en');
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(16)}${text}\n`;
}

/** Both sides' counters beside each other, without those that are 0 on both. */
function counterRows({ sender, receiver }: Summary): string[] {
  const names = [...new Set([...Object.keys(sender.counters), ...Object.keys(receiver.counters)])];
  const told = names.filter((name) => count(sender, name) + count(receiver, name) > 0);
  const cells = told.map((name) => [name, ...[sender, receiver].map((side) => grouped(count(side, name)))]);
  const table = [['', `sender ${sender.address}`, `receiver ${receiver.address}`], ...cells];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((cell) => cell[column].length)));
  return table.map(
    ([name, ...values]) =>
      `  ${name.padEnd(widths[0])}${values.map((value, i) => `  ${value.padStart(widths[i + 1])}`).join('')}\n`,
  );
}

/** The words that end `npm start`. */
export function summaryText(summary: Summary): string {
  const { bytes, elapsedMs, sender, receiver } = summary;
  const seconds = elapsedMs / 1000;
  const lost = count(sender, 'retransmitted_pkts') + count(receiver, 'retransmitted_pkts');
  const width = Math.max(...WHERE_NEXT.map(([line]) => line.length));
  return [
    `Arrived: ${amount(bytes)}, SHA-256 the same on both sides.\n`,
    ...(seconds === 0 ? [] : [row('throughput', rate(bytes / seconds))]),
    row('on the wire', `${seconds.toFixed(3)} s`),
    row(
      'packets',
      `${grouped(count(sender, 'sent_pkts'))} from the sender, ${grouped(count(receiver, 'sent_pkts'))} back`,
    ),
    row('retransmissions', `${grouped(lost)} packets`),
    row('SHA-256', summary.sha256),
    ...(summary.output === undefined ? [] : [row('written to', summary.output)]),
    '\nWhat the NICs counted:\n',
    ...counterRows(summary),
    '\nWhere to look next:\n',
    ...WHERE_NEXT.map(([line, what]) => `  ${line.padEnd(width)}  ${what}\n`),
  ].join('');
}
