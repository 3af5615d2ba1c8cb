import { CmOption } from '../../../entry/index.js';
import type { Agreement } from '../exchange/agreement.js';
import { DatagramPairs } from './cm-datagrams.js';
import type { CmOpening } from './cm-opening.js';
import type { PerfFlags } from '../flags.js';
import { NO_KEYS } from '../exchange/keys.js';
import { type Datagrams, QueuePairs } from './queue-pairs.js';
import type { Settings } from '../settings.js';
import { Verb } from '../tests.js';

async function connectReliable(
  opening: CmOpening,
  queuePairs: QueuePairs,
  settings: Settings,
  flags: PerfFlags,
): Promise<void> {
  const { test, qps } = settings;
  const asks = test.verb === Verb.READ || test.verb === Verb.ATOMIC;
  const outReads = asks ? queuePairs.outReads : 0;
  const { tos, retry_count: retryCount } = flags;
  const made = [];
  for (let i = 0; i < qps; i += 1) {
    const { qp } = await opening.next({
      pd: queuePairs.pd,
      qp: queuePairs.init,
      responderResources: outReads,
      initiatorDepth: outReads,
      retryCount,
      prepare: (id) => {
        if (opening.leads && tos !== undefined) id.setOption(CmOption.TOS, tos);
      },
    });
    made.push(qp);
  }
  queuePairs.adopt(made, []);
}

async function connectDatagrams(pairs: DatagramPairs, queuePairs: QueuePairs, { qps }: Settings): Promise<void> {
  const made = [];
  for (let i = 0; i < qps; i += 1) made.push(await pairs.next(i));
  const datagrams = made.map((pair) => pair.datagrams).filter((each): each is Datagrams => each !== undefined);
  queuePairs.adopt(
    made.map(({ qp }) => qp),
    datagrams,
  );
}

/** Queue pairs that rdma_cm makes and connects. Both sides meet before, so that the server listens, and after. */
export async function connectedQueuePairs(
  opening: CmOpening,
  settings: Settings,
  flags: PerfFlags,
  agreement: Agreement,
): Promise<QueuePairs> {
  const { connection, both, test } = settings;
  const queuePairs = new QueuePairs(opening.context, settings, flags, agreement);
  const answers = both || test.measure === 'lat';
  const pairs =
    connection === 'UD' ? new DatagramPairs(opening, flags.port, flags.tos, queuePairs, answers) : undefined;
  await opening.exchange.swapKeys(NO_KEYS);
  if (pairs === undefined) await connectReliable(opening, queuePairs, settings, flags);
  else await connectDatagrams(pairs, queuePairs, settings);
  await opening.exchange.swapKeys(NO_KEYS);
  pairs?.stop();
  return queuePairs;
}
