import { readFileSync } from 'node:fs';
import { Argument, Command, Option } from 'commander';
import {
  getDeviceList,
  NodeType,
  nodeTypeStr,
  PortState,
  type PublishedStatistics,
  readStatistics,
} from '../../entry/index.js';
import { tool, ToolError } from '../kit/errors.js';
import { guidText, netdevOf } from '../kit/addresses.js';
import { packageVersion } from '../kit/output.js';
import { deviceIndex, type Facts, isWanted, jsonOf, linkOf, match, type Row, running, textOf, whose } from './facts.js';
import { lookAtResources } from './resources.js';

interface RdmaOptions {
  readonly details?: true;
  readonly json?: true;
  readonly nonzero?: true;
  readonly pretty?: true;
}

const STATES = new Map<number, string>([
  [PortState.NOP, 'NOP'],
  [PortState.DOWN, 'DOWN'],
  [PortState.INIT, 'INIT'],
  [PortState.ARMED, 'ARMED'],
  [PortState.ACTIVE, 'ACTIVE'],
  [PortState.ACTIVE_DEFER, 'ACTIVE_DEFER'],
]);

function statistics(words: readonly string[], nonzero: boolean): Row[] {
  return chosen(words, (nic) => {
    const counters = Object.entries(nic.counters).filter(([, count]) => !nonzero || count !== 0);
    return { ...linkOf(nic), facts: [...counters, ...whose(nic)] };
  });
}

/** A row for each NIC that words choose. */
function chosen(words: readonly string[], show: (nic: PublishedStatistics) => Row): Row[] {
  const { nics, wanted } = running(words);
  return nics.map(show).filter(({ facts }) => isWanted(facts, wanted));
}

/** The system's number of a network interface; it may not tell. */
function netdevIndexFacts(netdev: string | undefined): Facts {
  if (netdev === undefined) return [];
  try {
    return [['netdev_index', Number(readFileSync(`/sys/class/net/${netdev}/ifindex`, 'utf8'))]];
  } catch {
    return [];
  }
}

function links(words: readonly string[]): Row[] {
  return chosen(words, (nic) => {
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
      jsonFacts: netdevIndexFacts(netdev),
    };
  });
}

function devices(name: string | undefined): Row[] {
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
      jsonFacts: [['sys_image_guid', guidText(device.guid)]],
    } satisfies Row;
  });
}

/** As iproute2 has it. */
const USAGE = `Usage: rdma [ OPTIONS ] OBJECT { COMMAND | help }
where  OBJECT := { dev | link | resource | statistic | help }
       OPTIONS := { -V[ersion] | -d[etails] | -j[son] | -p[retty] }
`;

const OBJECT_USAGES = {
  dev: `Usage: rdma dev show [DEV]
`,
  link: `Usage: rdma link show [DEV/PORT_INDEX | ADDRESS] [address ADDRESS] [pid PID]
`,
  resource: `Usage: rdma resource show [DEV | ADDRESS] [address ADDRESS] [pid PID]
       rdma resource show { qp | cm_id } [link DEV/PORT | ADDRESS] [FILTER-NAME FILTER-VALUE]
       rdma resource show { cq | mr | pd | ctx | srq } [dev DEV | ADDRESS] [FILTER-NAME FILTER-VALUE]
`,
  statistic: `Usage: rdma statistic [show]
       rdma statistic show link [DEV/PORT | ADDRESS] [address ADDRESS] [pid PID]
`,
} as const;

const OBJECTS = ['dev', 'link', 'resource', 'statistic'] as const;

/** The help that is asked for; undefined: none is. */
function helpFor(words: readonly string[]): string | undefined {
  const first = words.at(0);
  const rest = words.slice(1);
  if (first === undefined || first === 'help') return USAGE;
  const object = match(first, OBJECTS);
  return object !== undefined && rest.includes('help') ? OBJECT_USAGES[object] : undefined;
}

/** What is asked for: an object, and perhaps one of its kind. */
function look(words: readonly string[], nonzero: boolean): Row[] {
  const [first, ...rest] = words;
  const object = match(first, OBJECTS);
  if (object === undefined) throw new ToolError(`Unknown object '${first}'.`);
  if (match(rest[0], ['show', 'list']) !== undefined) rest.shift();
  if (object === 'resource') return lookAtResources(rest);
  const counted = object === 'statistic' ? match(rest[0], ['qp', 'mr', 'mode']) : undefined;
  if (counted !== undefined)
    throw new ToolError(
      `${counted}: not kept here: there are no counters that are bound to objects; rdma statistic show link has those of` +
        ' each NIC, and rdma -d resource show qp those of each queue pair.',
    );
  if (object === 'statistic') return statistics(rest, nonzero);
  if (object === 'link') return links(rest);
  if (rest.length > 1) throw new ToolError(`Unknown parameter '${rest[1]}'.`);
  return devices(rest[0]);
}

/** A line each, every word followed by a blank as iproute2 has it; pretty: a fact a line. */
function text({ label, facts, jsonFacts = [], details = [] }: Row, pretty: boolean, detailed: boolean): string {
  const before = pretty ? '\n    ' : '';
  const words = (some: Facts): string => some.map(([name, value]) => `${before}${name} ${textOf(value)} `).join('');
  const below = !detailed || details.length === 0 ? '' : `${pretty ? '' : '\n    '}${words(details)}`;
  return `${label} ${words(facts)}${detailed ? words(jsonFacts) : ''}${below}\n`;
}

function show(words: readonly string[], options: RdmaOptions): void {
  const help = helpFor(words);
  if (help !== undefined) {
    process.stdout.write(help);
    return;
  }
  const told = look(words, options.nonzero === true);
  const pretty = options.pretty === true;
  const detailed = options.details === true;
  if (options.json === true) {
    const objects = told.map(({ labelFacts, facts, jsonFacts = [], details = [] }) =>
      Object.fromEntries(
        [...labelFacts, ...facts, ...jsonFacts, ...(detailed ? details : [])].map(([name, value]) => [
          name,
          jsonOf(value),
        ]),
      ),
    );
    process.stdout.write(`${JSON.stringify(objects, undefined, pretty ? 4 : 0)}\n`);
    return;
  }
  if (told.length === 0 && readStatistics().length === 0)
    process.stderr.write('No program of this user has a NIC open.\n');
  process.stdout.write(told.map((each) => text(each, pretty, detailed)).join(''));
}

export function command(): Command {
  return new Command('rdma')
    .description(
      'Print what the NICs of all running programs of this user have counted, as iproute2 prints it of devices.',
    )
    .addArgument(new Argument('[words...]', 'OBJECT [show] [WHICH]; help'))
    .option('-d, --details', 'print of queue pairs how their requests fare: windows, round trips, repeats')
    .option('-j, --json', 'print one JSON array')
    .option('-n, --nonzero', 'of counters, print those that are not zero')
    .option('-p, --pretty', 'print a fact a line')
    .addOption(new Option('-r, --raw', 'accepted: names are printed as they are').hideHelp())
    .version(`rdma utility, verbena-${packageVersion()}`, '-V, --version', 'print the version')
    .addHelpText(
      'after',
      '\n  rdma statistic show [link DEV/PORT]   the counters, at most a quarter of a second old' +
        '\n  rdma resource show                    how many objects of each kind there are' +
        '\n  rdma resource show qp|cm_id|cq|mr|pd|ctx|srq [lqpn|type|state|pdn|pid|... VALUE,...]' +
        '\n                                        the objects, the first 100 of each NIC; mr has the keys' +
        '\n  rdma link show [DEV/PORT]             states and interfaces of the ports' +
        '\n  rdma dev show [DEV]                   the devices' +
        '\n\nEach running program has a NIC of its own; its address and process are at the end of its line. Those under\n`verbena run` share one; objects show the program that they are for. WHICH is DEV/PORT, an address, `address A`\nor `pid N`.',
    )
    .action(tool(show));
}
