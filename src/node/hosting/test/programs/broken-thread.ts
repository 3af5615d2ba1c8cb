/** `broken-thread ADDRESS`: breaks the thread of a NIC in the midst of its work, and reports what a program sees of it. */
import type { Verb } from '../../../../device/adapter/command.js';
import { SoftContext } from '../../../../providers/soft/driver/context.js';
import { alloc, EventType, getDeviceList, VerbsError } from '../../../../entry/index.js';
import { OwnThread } from '../../threads/nic-handle.js';
import { ThreadHost } from '../../threads/thread-host.js';

const [address] = process.argv.slice(2);
const [device] = getDeviceList();
const warnings: string[] = [];
const host = new ThreadHost(new OwnThread({ address }), (text) => warnings.push(text));
const context = new SoftContext(device, host);

function refusal(call: () => unknown): string {
  try {
    call();
    return 'none';
  } catch (error) {
    return error instanceof VerbsError ? `${error.errno} ${error.message}` : String(error);
  }
}

const pd = context.allocPd();
const mr = pd.regMr(alloc(64));
const cq = context.createCq({ cqe: 1, channel: context.createCompChannel() });
const noVerb = 'nonsense' as Verb; // no driver sends it, and no NIC bears it
const command = refusal(() => context.command('nonsense', noVerb, undefined));
const { eventType } = context.getAsyncEvent(60_000);
const after = [() => context.allocPd(), () => context.queryPort(), () => cq.channel?.getCqEvent()].map(refusal);
mr.dereg();
cq.destroy();
pd.dealloc();
context.close();
process.send?.({ command, fatal: eventType === EventType.DEVICE_FATAL, after, warnings });
