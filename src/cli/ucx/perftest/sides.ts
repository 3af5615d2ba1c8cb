import { alloc, type Context } from '../../../entry/index.js';
import { type UcpEndpoint, type UcpMemory, UcpWorker } from '../../../entry/ucp.js';
import { ToolError } from '../../kit/errors.js';
import { type Control, heardFirst, textOf } from './control.js';
import { bytesOf, memoryBytesOf, type Plan } from './plan.js';
import type { Half, Side } from './plays/play.js';
import { playOf } from './plays/plays.js';
import type { UcpTest } from './tests.js';

interface UcpGame {
  readonly test: UcpTest;
  readonly plan: Plan;
}

function workerFor(context: Context, { transport }: Plan): UcpWorker {
  if (transport === 'self') throw new ToolError('self is of UCT: UCP goes by rc or ud.');
  return new UcpWorker(context, { transport });
}

/** What has something to hold, also where messages are empty. */
function memoryFor(worker: UcpWorker, plan: Plan): UcpMemory {
  return worker.memMap(Math.max(1, memoryBytesOf(plan, plan.receiveLayout)), { atomics: plan.atomics });
}

function keyText(memory: UcpMemory): string {
  return Buffer.from(memory.packRkey()).toString('hex');
}

function sideOf(
  { plan, test }: UcpGame,
  isClient: boolean,
  worker: UcpWorker,
  out: UcpEndpoint,
  memory: UcpMemory,
  key: string,
): Side {
  const theirs = out.unpackRkey(Buffer.from(key, 'hex'));
  const bytes = memoryBytesOf(plan, plan.sendLayout);
  if (theirs.length < bytesOf(plan)) throw new ToolError("The other side's memory is too short for a message.");
  return {
    plan,
    test,
    isClient,
    worker,
    out,
    into: out,
    data: alloc(Math.max(1, bytes)).subarray(0, bytes),
    memory,
    theirs,
  };
}

/** How messages of a test go. */
function explanationOf({ plan, out, into }: Side): string {
  const way = `by ${out === into ? plan.transport : 'self'}`;
  if (plan.test.family === 'atomic') return `${way}, atomics by ${plan.atomics}`;
  return plan.test.family === 'rma' ? way : `${way}: ${out.explain(bytesOf(plan))}`;
}

function halfOf(side: Side): Half {
  const { plan, out, worker } = side;
  return {
    plan,
    play: playOf(side),
    flush: () => out.flush(),
    explain: () => explanationOf(side),
    close: () => worker.close(),
  };
}

/** Has the client's worker connect, and the sides tell each other of their memory. */
export async function serverSide(context: Context, game: UcpGame, control: Control): Promise<Half> {
  const worker = workerFor(context, game.plan);
  const memory = memoryFor(worker, game.plan);
  const connected = new Promise<UcpEndpoint>((resolve) => {
    const { address } = worker.listen({}, resolve);
    control.say({ host: address.host, port: address.port, rkey: keyText(memory) });
  });
  const out = await Promise.race([connected, control.left]);
  return halfOf(sideOf(game, false, worker, out, memory, textOf(await control.hear(), 'rkey')));
}

export async function clientSide(context: Context, game: UcpGame, control: Control): Promise<Half> {
  const worker = workerFor(context, game.plan);
  const memory = memoryFor(worker, game.plan);
  const said = await heardFirst(control);
  const out = await worker.connect({ host: textOf(said, 'host'), port: Number(said['port']) });
  control.say({ rkey: keyText(memory) });
  return halfOf(sideOf(game, true, worker, out, memory, textOf(said, 'rkey')));
}

/** Both sides in one process, on a worker that talks to itself. */
export function loopbackSides(context: Context, game: UcpGame): readonly [client: Half, server: Half] {
  const worker = workerFor(context, game.plan);
  const memories = [memoryFor(worker, game.plan), memoryFor(worker, game.plan)] as const;
  const ways = [worker.connectToSelf(), worker.connectToSelf()] as const;
  const [client, server] = [0, 1].map((i) =>
    halfOf({
      ...sideOf(game, i === 0, worker, ways[i], memories[i], keyText(memories[1 - i])),
      into: ways[1 - i],
    }),
  );
  return [client, server];
}
