import { alloc, type Context } from '../../../../entry/index.js';
import {
  AtomicOp,
  BareInterface,
  type Capabilities,
  type Endpoint,
  type PackedRkey,
  unpackRkey,
} from '../../../../protocols/ucp/bare/index.js';
import { ToolError } from '../../../kit/errors.js';
import { type Control, heardFirst, textOf } from '../control.js';
import type { Half } from '../plays/play.js';
import { bytesOf, type Plan } from '../plan.js';
import type { UctTest, UctTestName } from '../tests.js';
import { Link, uctPlayOf, type UctSide } from './plays.js';

const OPS: Partial<Readonly<Record<UctTestName, AtomicOp>>> = { swap: AtomicOp.SWAP, cswap: AtomicOp.CSWAP };

/** Bytes of the longest message of a test. */
function mostOf({ name, family }: UctTest, { sendLayout }: Plan, { am, put, get }: Capabilities): number {
  const way = sendLayout === 'zcopy' || sendLayout === 'bcopy' ? sendLayout : 'short';
  if (family === 'am') return am[way];
  if (name !== 'get') return put[way];
  return way === 'short' ? 0 : get[way];
}

/** Why a transport cannot do what is wanted; undefined when it can. */
function refusalOf(test: UctTest, plan: Plan, capabilities: Capabilities): string | undefined {
  const { transport, headerBytes, sendLayout } = plan;
  const bytes = bytesOf(plan);
  if (test.family !== 'am' && capabilities.put.zcopy === 0)
    return `${transport} has no RDMA: of the tests of UCT it does am_lat and am_bw.`;
  if (test.family === 'atomic') {
    const can = capabilities.atomics[bytes === 4 ? 4 : 8].includes(OPS[test.name] ?? AtomicOp.ADD);
    if (can) return undefined;
    if (transport === 'self') return 'self has atomics only where the NIC runs in this thread: give --host inline.';
    return `${transport} cannot do ${test.name} of ${bytes} bytes: an adapter has add and compare-and-swap, of 8 bytes.`;
  }
  const most = mostOf(test, plan, capabilities);
  if (bytes > most)
    return `${test.name} by ${transport} takes ${most} bytes at most by -D ${sendLayout}, not ${bytes}; choose by -s or -D.`;
  if (test.family === 'am' && sendLayout === 'zcopy' && headerBytes > capabilities.am.header)
    return `By ${transport} a header has ${capabilities.am.header} bytes at most, not ${headerBytes}; choose by -H.`;
  return undefined;
}

/** What a word needs, and more than nothing. */
const LEAST_BYTES = 8;

type Alone = Omit<UctSide, 'out' | 'theirs'>;

function aloneFor(own: BareInterface, test: UctTest, plan: Plan, isClient: boolean): Alone {
  const bytes = Math.max(LEAST_BYTES, bytesOf(plan));
  const buffer = alloc(bytes);
  const [source, memory] = [own.domain.register(buffer), own.domain.register(alloc(bytes))];
  return { plan, test, isClient, own, data: buffer.subarray(0, bytesOf(plan)), source, memory };
}

function keyText({ memory }: Alone): string {
  return Buffer.from(memory.pack()).toString('hex');
}

function keyFrom(text: string, plan: Plan): PackedRkey {
  const key = unpackRkey(Buffer.from(text, 'hex'));
  if (typeof key === 'string') throw new ToolError(`The other side's key makes no sense: ${key}.`);
  if (key.length < bytesOf(plan)) throw new ToolError("The other side's memory is too short for a message.");
  return key;
}

/** @throws ToolError where the transport cannot do what is wanted */
function checkWay({ test, plan }: Alone, { capabilities }: Endpoint): void {
  const refusal = refusalOf(test, plan, capabilities);
  if (refusal !== undefined) throw new ToolError(refusal);
}

function halfOf(alone: Alone, endpoint: Endpoint, theirs: PackedRkey): Half {
  const out = new Link(endpoint);
  const { plan, own } = alone;
  return {
    plan,
    play: uctPlayOf({ ...alone, out, theirs }),
    flush: () => out.flush(),
    explain: () => `by ${endpoint.way.transport}, ${plan.sendLayout}`,
    close: () => own.close(),
  };
}

/** Has the client connect, and the sides tell each other of their memory. */
export async function uctServer(context: Context, test: UctTest, plan: Plan, control: Control): Promise<Half> {
  const own = new BareInterface(context, plan.transport);
  const alone = aloneFor(own, test, plan, false);
  const connected = new Promise<Endpoint>((resolve) => {
    const { host, port } = own.listen(resolve);
    control.say({ host, port, rkey: keyText(alone) });
  });
  const endpoint = await Promise.race([connected, control.left]);
  return halfOf(alone, endpoint, keyFrom(textOf(await control.hear(), 'rkey'), plan));
}

export async function uctClient(context: Context, test: UctTest, plan: Plan, control: Control): Promise<Half> {
  const own = new BareInterface(context, plan.transport);
  const alone = aloneFor(own, test, plan, true);
  const said = await heardFirst(control);
  const endpoint = await own.connect({ host: textOf(said, 'host'), port: Number(said['port']) });
  checkWay(alone, endpoint);
  control.say({ rkey: keyText(alone) });
  return halfOf(alone, endpoint, keyFrom(textOf(said, 'rkey'), plan));
}

/** Both sides in one process, by an interface that leads to itself. */
export async function uctLoopback(
  context: Context,
  test: UctTest,
  plan: Plan,
): Promise<readonly [client: Half, server: Half]> {
  const own = new BareInterface(context, plan.transport);
  const [client, server] = [aloneFor(own, test, plan, true), aloneFor(own, test, plan, false)];
  const [there, back] = await own.toItself();
  checkWay(client, there);
  return [halfOf(client, there, server.memory.key), halfOf(server, back, client.memory.key)];
}
