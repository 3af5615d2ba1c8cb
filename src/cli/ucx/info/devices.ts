import type { Context } from '../../../entry/index.js';
import type { AtomicName, UcpCapabilities } from '../../../entry/ucp.js';
import { type TransportFacts, transportFacts, type TransportName } from './endpoints.js';
import { factLine, headText, sizeText } from './objects.js';

const TYPES: Readonly<Record<TransportName, string>> = { rc: 'network', ud: 'network', self: 'loopback' };

/** What transports do beside moving bytes. */
const FACTS: Readonly<Record<TransportName, Readonly<Record<string, string>>>> = {
  rc: { connection: 'to ep', 'error handling': 'peer failure, ep_check, keepalive' },
  ud: { connection: 'to iface', 'error handling': 'peer failure, keepalive' },
  self: { connection: 'to iface', 'error handling': 'none: nobody else can fail' },
};

const ATOMICS: Readonly<Record<AtomicName, readonly string[]>> = {
  add: ['add', 'fadd'],
  and: ['and', 'fand'],
  or: ['or', 'for'],
  xor: ['xor', 'fxor'],
  swap: ['swap'],
  compareSwap: ['cswap'],
};

function capabilityLines({ put, get, am, atomics }: UcpCapabilities): string[] {
  const sizes: Readonly<Record<string, number>> = {
    put_short: put.short,
    put_bcopy: put.bcopy,
    put_zcopy: put.zcopy,
    get_bcopy: get.bcopy,
    get_zcopy: get.zcopy,
    am_short: am.short,
    am_bcopy: am.bcopy,
    am_zcopy: am.zcopy,
    'am header': am.header,
  };
  const lines = Object.entries(sizes)
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => factLine(name, `<= ${sizeText(bytes)}`));
  // The keys of an object of ours are those that its type names.
  const names = (Object.keys(ATOMICS) as AtomicName[]).flatMap((name) => {
    const words = ([4, 8] as const).filter((bytes) => atomics[bytes].includes(name)).map((bytes) => bytes * 8);
    return words.length === 0 ? [] : ATOMICS[name].map((own) => factLine(`atomic_${own}`, `${words.join(', ')} bit`));
  });
  return [...lines, ...names];
}

function transportText({ transport, device, capabilities }: TransportFacts): string {
  return [
    `#      Transport: ${transport}\n`,
    `#         Device: ${device}\n`,
    `#           Type: ${TYPES[transport]}\n`,
    '#\n#      capabilities:\n',
    ...capabilityLines(capabilities),
    ...Object.entries(FACTS[transport]).map(([name, value]) => factLine(name, value)),
    '#\n',
  ].join('');
}

export async function deviceFacts(context: Context, transports: readonly TransportName[]): Promise<TransportFacts[]> {
  const facts: TransportFacts[] = [];
  for (const transport of transports) facts.push(await transportFacts(context, transport));
  return facts;
}

/** The same in UCX's layout. */
export function devicesText(facts: readonly TransportFacts[]): string {
  const devices = [...new Set(facts.map(({ device }) => device))];
  return devices
    .map((device) => {
      const own = facts.filter((one) => one.device === device);
      const domain = [
        headText(`Memory domain: ${device}`).replace(/#\n$/, ''),
        `#     Component: ${device === 'memory' ? 'self' : 'rdmacm'}\n`,
        '#             register: unlimited\n',
        `#           remote key: ${own[0].rkeyBytes} bytes\n#\n`,
      ];
      return [...domain, ...own.map(transportText)].join('');
    })
    .join('');
}
