import { alloc, type Context } from '../../../../index.js';
import { type UcpEndpoint, type UcpMemory, UcpWorker } from '../../../../ucp.js';
import { toldIfSilent } from '../../rdmacm/common/silence.js';
import { ToolError } from '../../shared/errors.js';
import type { Control, Said } from './control.js';
import { bytesOf, type Plan } from './plan.js';
import type { Side } from './plays/play.js';

/** It waits for more of what it understands. */
const OTHER_TOOL = "if UCX's own ucx_perftest listens there, end this side by Ctrl-C: it is no peer of this one";

function workerFor(context: Context, { transport }: Plan): UcpWorker {
  return new UcpWorker(context, { transport });
}

/** What has something to hold, also where messages are empty. */
function memoryFor(worker: UcpWorker, plan: Plan): UcpMemory {
  return worker.memMap(Math.max(1, bytesOf(plan)), { atomics: plan.atomics });
}

function keyText(memory: UcpMemory): string {
  return Buffer.from(memory.packRkey()).toString('hex');
}

function textOf(said: Said, name: string): string {
  const value = said[name];
  if (typeof value !== 'string') throw new ToolError(`The other side has not said its ${name}.`);
  return value;
}

function sideOf(
  plan: Plan,
  isClient: boolean,
  worker: UcpWorker,
  out: UcpEndpoint,
  memory: UcpMemory,
  key: string,
): Side {
  const theirs = out.unpackRkey(Buffer.from(key, 'hex'));
  if (theirs.length < bytesOf(plan)) throw new ToolError("The other side's memory is too short for a message.");
  return {
    plan,
    isClient,
    worker,
    out,
    into: out,
    data: alloc(Math.max(1, bytesOf(plan))).subarray(0, bytesOf(plan)),
    memory,
    theirs,
  };
}

/** Has the client's worker connect, and the sides tell each other of their memory. */
export async function serverSide(context: Context, plan: Plan, control: Control): Promise<Side> {
  const worker = workerFor(context, plan);
  const memory = memoryFor(worker, plan);
  const connected = new Promise<UcpEndpoint>((resolve) => {
    const { address } = worker.listen({}, resolve);
    control.say({ host: address.host, port: address.port, rkey: keyText(memory) });
  });
  const out = await Promise.race([connected, control.left]);
  return sideOf(plan, false, worker, out, memory, textOf(await control.hear(), 'rkey'));
}

export async function clientSide(context: Context, plan: Plan, control: Control): Promise<Side> {
  const worker = workerFor(context, plan);
  const memory = memoryFor(worker, plan);
  const said = await toldIfSilent(control.hear(), OTHER_TOOL);
  const out = await worker.connect({ host: textOf(said, 'host'), port: Number(said['port']) });
  control.say({ rkey: keyText(memory) });
  return sideOf(plan, true, worker, out, memory, textOf(said, 'rkey'));
}

/** Both sides in one process, on a worker that talks to itself. */
export function loopbackSides(context: Context, plan: Plan): readonly [client: Side, server: Side] {
  const worker = workerFor(context, plan);
  const memories = [memoryFor(worker, plan), memoryFor(worker, plan)] as const;
  const ways = [worker.connectToSelf(), worker.connectToSelf()] as const;
  const [client, server] = [0, 1].map((i) => ({
    ...sideOf(plan, i === 0, worker, ways[i], memories[i], keyText(memories[1 - i])),
    into: ways[1 - i],
  }));
  return [client, server];
}
