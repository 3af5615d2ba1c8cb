/** A thread that listens by a synchronous identifier, says where, and answers the messages of one connection. */
import { parentPort, workerData } from 'node:worker_threads';
import { createEp, getAddrInfo } from '../../../src/entry/index.js';
import { providerNamed } from '../provider.js';
import { assertArrived, PATIENCE_MS, postForMessage, ROUNDS, sendMessage, Talker } from '../rdmacm-support.js';

export type Report = { readonly host: string; readonly port: number } | { readonly problem: string | undefined };

const say = (report: Report): void => parentPort?.postMessage(report);

async function serve(): Promise<void> {
  using context = providerNamed(String(workerData)).open();
  const [place] = await getAddrInfo(context.address, 0, { passive: true });
  using listener = createEp(place, undefined, {}, { contexts: [context] });
  listener.listen();
  say({ host: context.address, port: listener.getSrcPort() });
  using id = listener.getRequest(PATIENCE_MS);
  using talker = new Talker(id);
  postForMessage(talker, 0);
  id.accept();
  for (let round = 0; round < ROUNDS; round += 1) {
    assertArrived(talker, round, 0);
    postForMessage(talker, round + 1);
    sendMessage(talker, round);
  }
  id.disconnect();
}

try {
  await serve();
  say({ problem: undefined });
} catch (error) {
  say({ problem: error instanceof Error ? error.stack : String(error) });
}
