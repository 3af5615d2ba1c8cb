import { ToolError } from '../../kit/errors.js';
import { testOf, type UcxTest } from './tests.js';

/** How memory is handed over: to UCP in one piece, or in several; to UCT to be copied at once, to be packed, or where it lies. */
export const LAYOUTS = { UCP: ['contig', 'iov'], UCT: ['short', 'bcopy', 'zcopy'] } as const;
export type Layout = (typeof LAYOUTS)['UCP' | 'UCT'][number];

/** Ways between two processes, by UCX's names. */
export const TRANSPORTS = ['rc', 'ud'] as const;
/** Within one process there is one more, of UCT. */
export type TransportName = (typeof TRANSPORTS)[number] | 'self';

/** Who does atomics. */
export const ATOMICS = ['messages', 'device'] as const;
export type AtomicsName = (typeof ATOMICS)[number];

/** What the two sides do together: the client says it, and the server follows. */
export interface Plan {
  readonly test: UcxTest;
  /** Bytes of the pieces of a message. */
  readonly sizes: readonly number[];
  /** Bytes from where a piece begins to where the next does; 0 where they follow each other. */
  readonly stride: number;
  readonly sendLayout: Layout;
  readonly receiveLayout: Layout;
  /** Messages that are measured; 0 for as many as there is time for. */
  readonly iterations: number;
  readonly warmUp: number;
  /** Messages that may be under way at a time. */
  readonly outstanding: number;
  /** Bytes of an active message's header. */
  readonly headerBytes: number;
  readonly wildcard: boolean;
  readonly unexpected: boolean;
  readonly transport: TransportName;
  readonly atomics: AtomicsName;
  /** Whether the server's program sleeps while its memory is used. */
  readonly oneSided: boolean;
}

export const MAX_BYTES = 2 ** 30;
export const MAX_PIECES = 64;
export const MAX_ITERATIONS = 2 ** 48;
export const MAX_OUTSTANDING = 4096;
export const MAX_HEADER_BYTES = 3072;

/** Bytes of a message. */
export function bytesOf({ sizes }: Pick<Plan, 'sizes'>): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Where each piece lies in the memory of a side, and how much of that there is. */
export function placesOf({ sizes, stride }: Pick<Plan, 'sizes' | 'stride'>): {
  readonly places: readonly { readonly from: number; readonly to: number }[];
  readonly bytes: number;
} {
  let next = 0;
  const places = sizes.map((size) => {
    const from = next;
    next = from + (stride === 0 ? size : stride);
    return { from, to: from + size };
  });
  return { places, bytes: places.at(-1)?.to ?? 0 };
}

/** Bytes of memory that a side needs for a message of that layout. */
export function memoryBytesOf(plan: Pick<Plan, 'sizes' | 'stride'>, layout: Layout): number {
  return layout === 'iov' ? placesOf(plan).bytes : bytesOf(plan);
}

/** @throws ToolError for what cannot be together */
export function checkPlan<P extends Omit<Plan, 'transport'>>(plan: P): P {
  const { test, sizes, stride, sendLayout, receiveLayout, headerBytes, wildcard, unexpected, oneSided } = plan;
  const bytes = bytesOf(plan);
  if (bytes > MAX_BYTES) throw new ToolError(`A message may have ${MAX_BYTES} bytes, not ${bytes}.`);
  if (sizes.length > MAX_PIECES) throw new ToolError(`A message may have ${MAX_PIECES} pieces, not ${sizes.length}.`);
  const longest = Math.max(...sizes);
  if (stride > 0 && longest > stride)
    throw new ToolError(`A piece of ${longest} bytes does not fit between pieces that begin ${stride} apart (-i).`);
  const memoryBytes = placesOf(plan).bytes;
  if (memoryBytes > MAX_BYTES) throw new ToolError(`Pieces may lie in ${MAX_BYTES} bytes, not in ${memoryBytes}.`);
  if (oneSided && !isOneSided(test))
    throw new ToolError(`-o is for what is done to memory; the server of ${test.name} has something to do.`);
  const isTag = test.family === 'tag';
  if (test.api === 'UCT') checkUct(plan, bytes);
  else if (!isOf('UCP', sendLayout) || !isOf('UCP', receiveLayout))
    throw new ToolError(`-D ${sendLayout} is for the tests of UCT, not for ${test.name}.`);
  if (!isTag && (sendLayout === 'iov' || receiveLayout === 'iov'))
    throw new ToolError(`-D iov is for tags; ${test.name} has one piece.`);
  if (!isTag && (wildcard || unexpected)) throw new ToolError(`-C and -U are for tags, not for ${test.name}.`);
  if (test.family !== 'am' && headerBytes > 0) throw new ToolError(`-H is for active messages, not for ${test.name}.`);
  if (test.family === 'atomic' && bytes !== 4 && bytes !== 8)
    throw new ToolError(`${test.name} works on words of 4 or 8 bytes, not ${bytes}; choose by -s.`);
  if (test.byMemory && bytes === 0) throw new ToolError(`${test.name} needs a byte at least; choose by -s.`);
  return plan;
}

/** Whether the server only holds out its memory. */
function isOneSided({ family, isPingPong }: UcxTest): boolean {
  return (family === 'rma' || family === 'atomic') && !isPingPong;
}

/** @throws ToolError where a server that sleeps would never answer */
export function checkOneSided({ test, transport, atomics, oneSided }: Plan): void {
  if (!oneSided) return;
  if (transport === 'ud') throw new ToolError("By ud all goes by messages, which the server's program answers: no -o.");
  if (test.family === 'atomic' && atomics === 'messages')
    throw new ToolError("The server's program does atomics that go by messages: for -o, give --atomics device.");
}

function isOf(api: UcxTest['api'], layout: Layout): boolean {
  return LAYOUTS[api].some((one) => one === layout);
}

function checkUct({ test, sendLayout, receiveLayout, headerBytes }: Omit<Plan, 'transport'>, bytes: number): void {
  if (!isOf('UCT', sendLayout) || sendLayout !== receiveLayout)
    throw new ToolError(`${test.name} is of UCT: choose short, bcopy or zcopy by -D.`);
  if (test.name === 'get' && sendLayout === 'short')
    throw new ToolError('What is read is never short: choose -D bcopy or -D zcopy.');
  if (test.family === 'atomic' && sendLayout !== 'short')
    throw new ToolError(`-D ${sendLayout} is not for atomics: they are short.`);
  if (headerBytes > bytes)
    throw new ToolError(`The header (-H ${headerBytes}) is a part of the message, which has ${bytes} bytes.`);
}

export function planFacts(plan: Plan): object {
  return { ...plan, test: plan.test.name };
}

/** @param said by the other side. @throws ToolError where it makes no sense */
export function planFrom(said: Readonly<Record<string, unknown>>): Plan {
  const { sizes } = said;
  if (!Array.isArray(sizes)) throw nonsense('sizes');
  const number = (name: string, max: number): number => wholeFrom(name, said[name], max);
  const flag = (name: string): boolean => oneOf(name, said[name], [true, false]);
  const test = typeof said['test'] === 'string' ? testOf(said['test']) : undefined;
  if (test === undefined) throw nonsense('test');
  const plan = checkPlan({
    test,
    sizes: sizes.map((size) => wholeFrom('sizes', size, MAX_BYTES)),
    stride: number('stride', MAX_BYTES),
    sendLayout: oneOf('sendLayout', said['sendLayout'], LAYOUTS[test.api]),
    receiveLayout: oneOf('receiveLayout', said['receiveLayout'], LAYOUTS[test.api]),
    iterations: number('iterations', MAX_ITERATIONS),
    warmUp: number('warmUp', MAX_ITERATIONS),
    outstanding: Math.max(1, number('outstanding', MAX_OUTSTANDING)),
    headerBytes: number('headerBytes', MAX_HEADER_BYTES),
    wildcard: flag('wildcard'),
    unexpected: flag('unexpected'),
    transport: oneOf('transport', said['transport'], TRANSPORTS),
    atomics: oneOf('atomics', said['atomics'], ATOMICS),
    oneSided: flag('oneSided'),
  });
  checkOneSided(plan);
  return plan;
}

function wholeFrom(name: string, value: unknown, max: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > max) throw nonsense(name);
  return value;
}

function oneOf<const Value>(name: string, value: unknown, values: readonly Value[]): Value {
  const found = values.find((one) => one === value);
  if (found === undefined) throw nonsense(name);
  return found;
}

function nonsense(name: string): ToolError {
  return new ToolError(`The client's ${name} makes no sense; is it a ucx_perftest of the same version of Verbena?`);
}
