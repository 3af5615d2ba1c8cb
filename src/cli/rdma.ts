import { Argument, Command } from 'commander';
import { NodeType, PortState, type PublishedStatistics, getDeviceList, nodeTypeStr, readStatistics } from '../index.js';
import { ToolError, tool } from './errors.js';
import { guidText } from './guid-text.js';
import { netdevOf } from './netdev.js';
import { packageVersion } from './package-version.js';

interface RdmaOptions {
  readonly json?: true;
  readonly pretty?: true;
}

/** What is told of one thing, in its order. */
type Facts = readonly (readonly [name: string, value: string | number])[];

interface Told {
  /** How its line begins, and the same as facts for JSON. */
  readonly label: string;
  readonly labelFacts: Facts;
  readonly facts: Facts;
}

/** The devices have one port. */
const PORT = 1;

const STATES = new Map<number, string>([
  [PortState.NOP, 'NOP'],
  [PortState.DOWN, 'DOWN'],
  [PortState.INIT, 'INIT'],
  [PortState.ARMED, 'ARMED'],
  [PortState.ACTIVE, 'ACTIVE'],
  [PortState.ACTIVE_DEFER, 'ACTIVE_DEFER'],
]);

function deviceIndex(name: string): number {
  const index = getDeviceList().findIndex((device) => device.name === name);
  if (index < 0) throw new ToolError('Wrong device name');
  return index;
}

/** All NICs that run, or those of one link: all bear the same name, so address and process tell them apart. */
function running(link: string | undefined): readonly PublishedStatistics[] {
  const nics = readStatistics();
  if (link === undefined) return nics;
  const [name, port = ''] = link.split('/', 2);
  deviceIndex(name);
  if (port !== '' && Number(port) !== PORT) throw new ToolError('Wrong device name');
  return nics.filter(({ device }) => device === name);
}

function linkOf({ device }: PublishedStatistics): Pick<Told, 'label' | 'labelFacts'> {
  const index = Math.max(
    0,
    getDeviceList().findIndex(({ name }) => name === device),
  );
  const labelFacts = [
    ['ifindex', index],
    ['ifname', device],
    ['port', PORT],
  ] as const;
  return { label: `link ${device}/${PORT}`, labelFacts };
}

const whose = ({ address, pid }: PublishedStatistics): Facts => [
  ['address', address],
  ['pid', pid],
];

function statistics(link: string | undefined): Told[] {
  return running(link).map((nic) => ({
    ...linkOf(nic),
    facts: [...Object.entries(nic.counters), ...whose(nic)],
  }));
}

function links(link: string | undefined): Told[] {
  return running(link).map((nic) => {
    const netdev = netdevOf(nic.address);
    const up = nic.portState === PortState.ACTIVE;
    return {
      ...linkOf(nic),
      facts: [
        ['state', STATES.get(nic.portState) ?? 'UNKNOWN'],
        ['physical_state', up ? 'LINK_UP' : 'DISABLED'],
        ...(netdev === undefined ? [] : [['netdev', netdev] as const]),
        ...whose(nic),
      ],
    };
  });
}

function devices(name: string | undefined): Told[] {
  if (name !== undefined) deviceIndex(name);
  return getDeviceList().flatMap((device, index) => {
    if (name !== undefined && device.name !== name) return [];
    return {
      label: `${index}: ${device.name}:`,
      labelFacts: [
        ['ifindex', index],
        ['ifname', device.name],
      ],
      facts: [
        ['node_type', device.nodeType === NodeType.CA ? 'ca' : nodeTypeStr(device.nodeType)],
        ['protocol', 'roce'],
        ['fw', packageVersion()],
        ['node_guid', guidText(device.guid)],
      ],
    } satisfies Told;
  });
}

/** As iproute2 takes words: any beginning of one of them will do. */
function match<Word extends string>(text: string | undefined, words: readonly Word[]): Word | undefined {
  return text === undefined || text === '' ? undefined : words.find((word) => word.startsWith(text));
}

/** What is asked for: an object, and perhaps one of its kind. */
function look(words: readonly string[]): Told[] {
  const [first, ...rest] = words;
  const object = match(first, ['dev', 'link', 'statistic']);
  if (object === undefined) throw new ToolError(`Unknown object '${first}'.`);
  if (match(rest[0], ['show', 'list']) !== undefined) rest.shift();
  if (object === 'statistic' && match(rest[0], ['link']) !== undefined) {
    rest.shift();
    if (rest.length === 0) return statistics(undefined);
  } else if (object === 'statistic' && rest.length > 0) throw new ToolError(`Unknown parameter '${rest[0]}'.`);
  if (rest.length > 1) throw new ToolError(`Unknown parameter '${rest[1]}'.`);
  if (object === 'dev') return devices(rest[0]);
  return object === 'link' ? links(rest[0]) : statistics(rest[0]);
}

/** A line each, every word followed by a blank as iproute2 has it; pretty: a fact a line. */
function text({ label, facts }: Told, pretty: boolean): string {
  const before = pretty ? '\n    ' : '';
  return `${label} ${facts.map(([name, value]) => `${before}${name} ${value} `).join('')}\n`;
}

function show(words: readonly string[], options: RdmaOptions): void {
  const told = look(words);
  const pretty = options.pretty === true;
  if (options.json === true) {
    const objects = told.map(({ labelFacts, facts }) => Object.fromEntries([...labelFacts, ...facts]));
    process.stdout.write(`${JSON.stringify(objects, undefined, pretty ? 4 : 0)}\n`);
    return;
  }
  if (told.length === 0) process.stderr.write('No program of this user has a NIC open.\n');
  process.stdout.write(told.map((each) => text(each, pretty)).join(''));
}

export function command(): Command {
  return new Command('rdma')
    .description(
      'Print what the NICs of all running programs of this user have counted, as iproute2 prints it of devices.',
    )
    .addArgument(new Argument('<words...>', 'OBJECT [show] [WHICH]'))
    .option('-j, --json', 'print one JSON array')
    .option('-p, --pretty', 'print a fact a line')
    .addHelpText(
      'after',
      '\n  rdma statistic show [link DEV/PORT]   the counters, at most a quarter of a second old' +
        '\n  rdma link show [DEV/PORT]             states and interfaces of the ports' +
        '\n  rdma dev show [DEV]                   the devices' +
        '\n\nEach running program has a NIC of its own; its address and process are at the end of its line.',
    )
    .action(tool(show));
}
