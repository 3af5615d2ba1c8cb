import { openDevice } from '../../../entry/index.js';
import { sentence } from '../../kit/errors.js';
import { ownLane } from './lanes.js';
import { answerAt } from './server.js';
import { onOrder, tell, type ThreadTask } from './threads.js';

type TaskOf<Kind extends ThreadTask['kind']> = Extract<ThreadTask, { kind: Kind }>;

function fail(error: unknown): void {
  tell({ kind: 'failed', sentence: sentence(error) });
}

async function load({ url, setup, device }: TaskOf<'load'>): Promise<void> {
  const context = device === undefined ? undefined : openDevice({ device });
  const lane = await ownLane(url, setup, context === undefined ? {} : { context });
  const run = async (round: Parameters<typeof lane.run>[0]): Promise<void> => {
    const [counted] = await lane.run(round);
    tell({ kind: 'counted', counted });
  };
  onOrder((order) => {
    if (order.kind === 'run') run(order.round).catch(fail);
    else if (order.kind === 'stop') lane.stop();
    else void lane.close().finally(() => process.exit());
  });
  tell({ kind: 'ready', url });
}

async function portal({ scheme, host, device }: TaskOf<'portal'>): Promise<void> {
  const context = device === undefined ? undefined : openDevice({ device });
  const where = context === undefined ? { host } : { context };
  const { server, done } = await answerAt(
    { transport: scheme, ...where },
    {
      begun: (from) => tell({ kind: 'begun', from }),
      ended: (from, requests) => tell({ kind: 'ended', from, requests }),
    },
  );
  done.catch(fail);
  onOrder((order) => {
    if (order.kind === 'close') void server.stop({ timeoutMs: 0 }).finally(() => process.exit());
  });
  tell({ kind: 'ready', url: server.url });
}

export async function beThread(task: ThreadTask): Promise<void> {
  try {
    await (task.kind === 'load' ? load(task) : portal(task));
  } catch (error) {
    fail(error);
  }
}
