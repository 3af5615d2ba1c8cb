import { CmOption } from '../../../../index.js';
import type { Agreement } from '../exchange/agreement.js';
import { DatagramPairs } from './cm-datagrams.js';
import type { CmOpening } from './cm-opening.js';
import type { PerfFlags } from '../flags.js';
import { NO_KEYS } from '../exchange/keys.js';
import { type Datagrams, Lanes } from './lanes.js';
import type { Settings } from '../settings.js';
import { Verb } from '../tests.js';

async function connectReliable(opening: CmOpening, lanes: Lanes, settings: Settings, flags: PerfFlags): Promise<void> {
  const { test, qps } = settings;
  const asks = test.verb === Verb.READ || test.verb === Verb.ATOMIC;
  const outReads = asks ? lanes.outReads : 0;
  const { tos, retry_count: retryCount } = flags;
  const made = [];
  for (let i = 0; i < qps; i += 1) {
    const { qp } = await opening.next({
      pd: lanes.pd,
      qp: lanes.init,
      responderResources: outReads,
      initiatorDepth: outReads,
      retryCount,
      prepare: (id) => {
        if (opening.leads && tos !== undefined) id.setOption(CmOption.TOS, tos);
      },
    });
    made.push(qp);
  }
  lanes.adopt(made, []);
}

async function connectDatagrams(pairs: DatagramPairs, lanes: Lanes, { qps }: Settings): Promise<void> {
  const made = [];
  for (let i = 0; i < qps; i += 1) made.push(await pairs.next(i));
  const datagrams = made.map((pair) => pair.datagrams).filter((each): each is Datagrams => each !== undefined);
  lanes.adopt(
    made.map(({ qp }) => qp),
    datagrams,
  );
}

/** Queue pairs that rdma_cm makes and connects. Both sides meet before, so that the server listens, and after. */
export async function connectedLanes(
  opening: CmOpening,
  settings: Settings,
  flags: PerfFlags,
  agreement: Agreement,
): Promise<Lanes> {
  const { connection, both, test } = settings;
  const lanes = new Lanes(opening.context, settings, flags, agreement);
  const answers = both || test.measure === 'lat';
  const pairs = connection === 'UD' ? new DatagramPairs(opening, flags.port, flags.tos, lanes, answers) : undefined;
  await opening.line.swapKeys(NO_KEYS);
  if (pairs === undefined) await connectReliable(opening, lanes, settings, flags);
  else await connectDatagrams(pairs, lanes, settings);
  await opening.line.swapKeys(NO_KEYS);
  pairs?.stop();
  return lanes;
}
