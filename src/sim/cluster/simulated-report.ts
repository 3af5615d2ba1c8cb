import { QpState } from '../../device/ibta/index.js';
import { type Context, invalid, qpStateStr, qpTypeStr, VerbsError } from '../../api/verbs/index.js';
import { SoftContext } from '../../providers/soft/index.js';
import { SimulatedHost } from './simulated-host.js';
import type { SimulatedNic } from './simulated-nic.js';

/** No more queue pairs than that are described one by one. */
const MAX_PAIRS = 8;

const hex = (qpn: number): string => `0x${qpn.toString(16).padStart(6, '0')}`;

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** Rings on which programs wait in the event loop. */
function awaited({ client, asyncEvents, cmEvents, isAwaited }: SimulatedHost): string[] {
  return [...client.eventRings()].filter(isAwaited).map(({ buffer }) => {
    if (buffer === cmEvents) return 'somebody awaits an event of rdma_cm';
    return buffer === asyncEvents ? 'somebody awaits an asynchronous event' : 'somebody awaits completions';
  });
}

function pairs({ adapter }: SimulatedNic): string[] {
  const all = [...adapter.nic.objects.qps.values()].filter(({ state }) => state !== QpState.RESET);
  const lines = all.slice(0, MAX_PAIRS).map(({ qpn, type, state, connected, destQpn, sq, rq, srq }) => {
    const peer = connected && destQpn !== 0 ? `, to QP ${hex(destQpn)}` : '';
    const receives = srq === undefined ? count(rq.count, 'receive request') : 'a shared receive queue';
    const requests = `${count(sq.count, 'send request')} not complete, ${receives} waiting`;
    return `QP ${hex(qpn)} (${qpTypeStr(type)}, ${qpStateStr(state)}${peer}): ${requests}`;
  });
  return all.length > MAX_PAIRS ? [...lines, `and ${count(all.length - MAX_PAIRS, 'queue pair')} more`] : lines;
}

function identifiers({ adapter }: SimulatedNic): string[] {
  return [...adapter.cm.identifiers.values()].flatMap(({ port, listener, conversation }) => {
    if (listener !== undefined) return [`listens at port ${String(port)}`];
    if (conversation === undefined || !('state' in conversation)) return [];
    return conversation.state === 'ESTABLISHED' ? [] : [`a connection is in ${conversation.state}`];
  });
}

/**
 * What programs wait for on a simulated device, a line each, for a report of why nothing happens any more.
 *
 * @throws VerbsError EINVAL for a device that is not simulated
 */
export function whatIsAwaited(context: Context): string[] {
  const host = context instanceof SoftContext ? context.adapter : undefined;
  if (!(host instanceof SimulatedHost))
    throw new VerbsError('ibv_open_device', invalid('that is not a device of a simulation'));
  return host.nic.isOpen ? [...awaited(host), ...identifiers(host.nic), ...pairs(host.nic)] : [];
}
