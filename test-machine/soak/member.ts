/** `member OPTIONS`: one program of a soak, in a process of its own or in a thread of one. */
import { workerData } from 'node:worker_threads';
import { openDevice, VerbsError } from '../../src/entry/index.js';
import { Crowd } from './crowd.js';
import { Reporter } from './reporter.js';
import { HostedClient } from './hosted-client.js';
import { arm } from './mortality.js';
import type { MemberOptions, Order } from './protocol.js';
import { Server, stackOf } from './server.js';
import { squeeze } from './squeeze.js';
import { SteadyClient } from './steady-client.js';

export interface Activity {
  /** Ends it, so that nothing is left of it. */
  finish(): Promise<void>;
  /** Ends the connections that there are; new ones come. */
  interrupt?(): void;
  crowd?(count: number): Promise<void>;
  terminate?(restMs: number): Promise<void>;
}

const LAST_WORDS_MS = 200;

const options = (workerData ?? JSON.parse(process.argv[2])) as MemberOptions; // by the supervisor, which is ours

const reporter = new Reporter(
  (order) => void obey(order).catch((error: unknown) => reporter.violation(stackOf(error))),
);
process.on('uncaughtException', (error) => {
  reporter.violation(`uncaught: ${stackOf(error)}`);
  setTimeout(() => process.exit(1), LAST_WORDS_MS);
});

const context = options.role === 'hosted client' ? undefined : open();
const activity = start();
reporter.tell({ report: 'ready' });

function open(): ReturnType<typeof openDevice> {
  const { address, host, link, netem, capture } = options;
  return openDevice({ address, host, link, ...(netem !== '' && { netem }), ...(capture !== '' && { capture }) });
}

function start(): Activity {
  if (context === undefined) return new HostedClient(options, reporter);
  switch (options.role) {
    case 'server':
      return new Server(context, reporter, options.seed);
    case 'crowd':
      return new Crowd(context, reporter, options);
    default:
      return new SteadyClient(context, reporter, options);
  }
}

async function obey(order: Order): Promise<void> {
  switch (order.order) {
    case 'finish':
      return finish();
    case 'die':
      arm(order.moment, order.delayMs);
      if (['connect', 'accept', 'close'].includes(order.moment)) activity.interrupt?.();
      return;
    case 'slow':
      reporter.sleep(order.ms);
      return;
    case 'squeeze': {
      const release = squeeze();
      setTimeout(release, order.ms);
      return;
    }
    case 'crowd':
      return activity.crowd?.(order.count);
    case 'terminate':
      return activity.terminate?.(order.restMs);
    case 'dump':
      reporter.tell({
        report: 'dump',
        text: `${reporter.doing}; open: ${process.getActiveResourcesInfo().join(', ')}`,
      });
  }
}

async function finish(): Promise<void> {
  reporter.doing = 'ending what there is';
  await activity.finish();
  reporter.doing = 'closing the device';
  try {
    context?.close();
  } catch (error) {
    reporter.violation(`the device cannot be closed: ${error instanceof VerbsError ? error.message : stackOf(error)}`);
  }
  reporter.doing = 'waiting for its own end';
  reporter.close();
}
