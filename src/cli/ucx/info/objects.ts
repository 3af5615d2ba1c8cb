import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Context } from '../../../entry/index.js';
import { type UcpEndpoint, type UcpProtocolRange, UcpWorker } from '../../../entry/ucp.js';
import { toItself, transportFacts, type TransportName, TRANSPORTS } from './endpoints.js';

// What UCX's tool prints, to the column.

const NAME_WIDTH = 20;
const UNITS = [
  [2 ** 30, 'G'],
  [2 ** 20, 'M'],
  [2 ** 10, 'K'],
] as const;

/** A length as UCX writes it: 8K, 4160, inf. */
export function sizeText(bytes: number): string {
  if (bytes === Infinity) return 'inf';
  const unit = UNITS.find(([scale]) => bytes >= scale && bytes % scale === 0);
  return unit === undefined ? String(bytes) : `${bytes / unit[0]}${unit[1]}`;
}

/** A line of facts: the name ends where those of the others do. */
export function factLine(name: string, value: string): string {
  return `# ${name.padStart(NAME_WIDTH)}: ${value}
`;
}

export function headText(text: string): string {
  return `#\n# ${text}\n#\n`;
}

/** So many of a kind are made, and one takes its share of what all take: more where one takes little. */
const MANY = 32;
const MANY_SMALL = 512;

/** What objects take: bytes of JavaScript's heap, and bytes of buffers beside it. */
export interface ObjectSize {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly createMs: number;
}

export interface EndpointSize extends ObjectSize {
  readonly transport: TransportName;
  readonly tagProtocols: readonly UcpProtocolRange[];
}

export interface ObjectSizes {
  readonly worker: ObjectSize;
  readonly endpoints: readonly EndpointSize[];
  readonly rkeyBytes: number;
}

/** What nobody holds any more is not counted. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  // V8 has it under that name, once it was told to.
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** @param count of objects. @param ends of each, that are counted */
async function sizeOf<T>(make: () => T | Promise<T>, count: number, ends = 1): Promise<ObjectSize> {
  const collect = collector();
  const used = (): readonly [number, number] => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return [heapUsed, arrayBuffers];
  };
  // The first brings along what all share.
  const kept: T[] = [await make()];
  const [heap, buffers] = used();
  const begun = performance.now();
  for (let i = 0; i < count; i += 1) kept.push(await make());
  const createMs = (performance.now() - begun) / count;
  const [heapThen, buffersThen] = used();
  const each = (bytes: number): number => Math.max(0, Math.round(bytes / count / ends));
  // They are held until here.
  return {
    heapBytes: each(heapThen - heap),
    bufferBytes: each(buffersThen - buffers),
    createMs: kept.length > 0 ? createMs : 0,
  };
}

async function endpointSize(context: Context, transport: TransportName): Promise<EndpointSize> {
  const { tagProtocols } = await transportFacts(context, transport);
  using worker = new UcpWorker(context, { transport: transport === 'self' ? 'rc' : transport });
  const make = (): UcpEndpoint | Promise<UcpEndpoint> =>
    transport === 'self' ? worker.connectToSelf() : toItself(worker);
  // One that leads back by the device has two ends here.
  return {
    transport,
    tagProtocols,
    ...(await (transport === 'self' ? sizeOf(make, MANY_SMALL) : sizeOf(make, MANY, 2))),
  };
}

export async function objectSizes(context: Context): Promise<ObjectSizes> {
  const { rkeyBytes } = await transportFacts(context, 'self');
  const workers: UcpWorker[] = [];
  const worker = await sizeOf(() => {
    workers.push(new UcpWorker(context));
  }, MANY_SMALL);
  for (const each of workers) each.close();
  const endpoints: EndpointSize[] = [];
  for (const transport of TRANSPORTS) endpoints.push(await endpointSize(context, transport));
  return { worker, endpoints, rkeyBytes };
}

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)}KB`;

function memoryText({ heapBytes, bufferBytes, createMs }: ObjectSize): string {
  return `# memory: ${kib(heapBytes)}, buffers: ${kib(bufferBytes)}\n# create time: ${createMs.toFixed(3)} ms\n`;
}

/** `0..<eager short>..247..<eager bcopy>..(inf)`. */
function protocolsText(ranges: readonly UcpProtocolRange[]): string {
  return ranges.map(({ from, protocol }) => `${sizeText(from)}..<${protocol}>..`).join('') + '(inf)';
}

export interface ShownObjects {
  readonly worker: boolean;
  readonly endpoints: boolean;
  readonly memory: boolean;
}

function endpointText(endpoint: EndpointSize): string {
  const head = headText(`UCP endpoint by ${endpoint.transport}`);
  return `${head}# tag_send: ${protocolsText(endpoint.tagProtocols)}\n#\n${memoryText(endpoint)}`;
}

/** The same in UCX's layout, as far as there is one. */
export function objectsText({ worker, endpoints, rkeyBytes }: ObjectSizes, shown: ShownObjects): string {
  return [
    ...(shown.worker ? [headText('UCP worker'), memoryText(worker)] : []),
    ...(shown.endpoints ? endpoints.map(endpointText) : []),
    ...(shown.memory ? [headText('UCP memory'), `# remote key: ${rkeyBytes} bytes\n#\n`] : []),
  ].join('');
}
