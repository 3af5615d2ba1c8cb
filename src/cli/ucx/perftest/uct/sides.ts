import { alloc, type Context } from '../../../../entry/index.js';
import { BareInterface, type Endpoint, type PackedRkey, unpackRkey } from '../../../../protocols/ucp/bare/index.js';
import { ToolError } from '../../../kit/errors.js';
import { type Control, heardFirst, textOf } from '../control.js';
import type { Half } from '../half.js';
import { bytesOf, type Plan } from '../plan.js';
import type { UctTest } from '../tests.js';
import { Link } from './link.js';
import { uctPlayOf, type UctSide } from './plays.js';
import { refusalOf } from './refusals.js';

/** What a word needs, and more than nothing. */
const LEAST_BYTES = 8;

/** A side that nothing leads to the other from yet. */
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
