import { type Mtu, mtuBytes } from '../../../entry/index.js';
import type { Settings } from '../settings.js';
import { Verb } from '../tests.js';

/** Something about a test that is the same for all its rows: how the table says it, and how the JSON report does. */
interface Fact {
  readonly label: string;
  readonly key: string;
  readonly value: string | number;
  readonly unit?: string;
}

/** What of a test the settings do not say. */
export interface Surroundings {
  readonly device: string;
  readonly mtu: Mtu;
  readonly gidIndex: number;
  readonly outReads: number;
  readonly queuePairs: number;
  readonly tos: number | undefined;
  /** How long this side has warmed up; undefined when it has not. */
  readonly warmUpMs?: number | undefined;
}

const LABEL_WIDTH = 16;
/** The line that has the type of service behind it. */
const METHOD = 'Data_ex_method';
const SECOND_LABEL_WIDTH = 15;

function onOff(on: boolean): string {
  return on ? 'ON' : 'OFF';
}

/** Line by line; a line has one fact or two. */
function factLines(settings: Settings, around: Surroundings): (readonly Fact[])[] {
  const { test, active, both, connection, postList } = settings;
  const asks = test.verb === Verb.READ || test.verb === Verb.ATOMIC;
  const lines: (readonly Fact[])[] = [
    [
      { label: 'Dual-port', key: 'Dual_port', value: 'OFF' },
      { label: 'Device', key: 'Device', value: around.device },
    ],
    [
      { label: 'Number of qps', key: 'Number_of_qps', value: around.queuePairs },
      { label: 'Transport type', key: 'Transport_type', value: 'IB' },
    ],
    [
      { label: 'Connection type', key: 'Connection_type', value: connection },
      { label: 'Using SRQ', key: 'Using_SRQ', value: onOff(settings.sharedReceives) },
    ],
    // What the C tools say where there is no such thing.
    [{ label: 'PCIe relax order', key: 'PCIe_relax_order', value: 'Unsupported' }],
    [{ label: 'ibv_wr* API', key: 'ibv_wr_API', value: 'ON' }],
  ];
  const add = (when: boolean, fact: Fact): void => {
    if (when) lines.push([fact]);
  };
  add(active || both, { label: 'TX depth', key: 'TX_depth', value: settings.txDepth });
  add(postList > 1, { label: 'Post List', key: 'Post_List', value: postList });
  add(settings.recvPostList > 1, { label: 'Recv Post List', key: 'Recv_Post_List', value: settings.recvPostList });
  const receives = test.verb === Verb.SEND && (!active || both);
  add(receives, { label: 'RX depth', key: 'RX_depth', value: settings.rxDepth });
  add(test.measure === 'bw', {
    label: 'CQ Moderation',
    key: 'CQ_Moderation',
    value: settings.cqMod,
  });
  add(true, { label: 'Mtu', key: 'Mtu', value: mtuBytes(around.mtu), unit: '[B]' });
  add(true, { label: 'Link type', key: 'Link_type', value: 'Ethernet' });
  add(true, { label: 'GID index', key: 'GID_index', value: around.gidIndex });
  add(!asks, {
    label: 'Max inline data',
    key: 'Max_inline_data',
    value: settings.inlineBytes,
    unit: '[B]',
  });
  add(asks, { label: 'Outstand reads', key: 'Outstand_reads', value: around.outReads });
  // With a tab, as the C tools have it.
  add(true, { label: 'rdma_cm QPs\t ', key: 'rdma_cm_QPs', value: onOff(settings.byCm) });
  const method: Fact = {
    label: 'Data ex. method',
    key: METHOD,
    value: settings.talkByCm ? 'rdma_cm' : 'Ethernet',
  };
  lines.push([method]);
  const { warmUpMs } = around;
  if (warmUpMs !== undefined)
    add(true, { label: 'Warm-up', key: 'Warm_up_ms', value: Math.round(warmUpMs), unit: '[ms]' });
  return lines;
}

function words({ test, both, postList, atomicType }: Settings): string[] {
  return [
    test.title,
    ...(test.verb === Verb.ATOMIC ? [atomicType] : []),
    ...(both ? ['Bidirectional'] : []),
    ...(postList > 1 ? ['Post List'] : []),
    test.measure === 'bw' ? 'BW' : 'Latency',
    'Test',
  ];
}

/** The heading of the table, and what there is to know of the test. */
export function infoText(settings: Settings, around: Surroundings): string {
  const heading = `${' '.repeat(20)}${words(settings).join(' ')}`;
  const events = settings.events ? [` Test with events. Using ${around.device}_comp0`] : [];
  const lines = factLines(settings, around).map((facts) => {
    const texts = facts.map(({ label, value, unit = '' }, i) => {
      const width = i === 0 ? LABEL_WIDTH : SECOND_LABEL_WIDTH;
      return `${label.includes('\t') ? label : label.padEnd(width)}: ${value}${unit}`;
    });
    const isMethod = facts[0].key === METHOD;
    return ` ${texts.join('\t\t')}${isMethod && around.tos !== undefined ? ` \tTOS    : ${around.tos}` : ''}`;
  });
  return `${[heading, ...events, ...lines].join('\n')}\n`;
}

/** The same for the JSON report, under the names that the C tools have there. */
export function infoFacts(settings: Settings, around: Surroundings): Readonly<Record<string, string | number>> {
  const test = words(settings).join('_').replaceAll(' ', '_');
  const facts = factLines(settings, around).flat();
  return {
    test,
    ...Object.fromEntries(facts.map(({ key, value }) => [key, value])),
    ...(around.tos === undefined ? {} : { TOS: around.tos }),
  };
}
