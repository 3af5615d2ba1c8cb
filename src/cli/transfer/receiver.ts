import { createHash } from 'node:crypto';
import { AccessFlags, type ConnectionRequest, listen, type Listener, openDevice, WcOpcode } from '../../entry/index.js';
import { ToolError } from '../kit/errors.js';
import { NewFile } from '../kit/new-file.js';
import { openOptions } from '../kit/options.js';
import { EndMemory, Endpoint } from './endpoint.js';
import { type Answer, decodeOffer, encodeGrant, type StartOrder, Verdict } from './messages.js';

/** Waits for the sender. Later requests are told that nobody listens. */
async function firstRequest(listener: Listener): Promise<ConnectionRequest> {
  for await (const request of listener) return request;
  throw new ToolError('The listener ended before the sender connected.');
}

/** The receiving side: its memory is written to, and it checks what came. */
export async function receive(order: StartOrder, tell: (answer: Answer) => void): Promise<void> {
  const { host, address: addr, output } = order;
  const hosting = { ...(host === undefined ? {} : { host }), ...(addr === undefined ? {} : { addr }) };
  // The sender's NIC is of the same kind and gives the same warnings, and ours records nothing: one telling is enough.
  const context = openDevice({ ...openOptions(hosting), warn: () => {} });
  const out = output === undefined ? undefined : new NewFile(output);
  const listener = listen({ context });
  tell({ kind: 'ready', address: listener.address.host, port: listener.address.port });
  const request = await firstRequest(listener);
  const { totalBytes, legBytes } = decodeOffer(request.privateData);
  const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
  const memory = new EndMemory(context, Math.min(legBytes, totalBytes), access);
  const grant = encodeGrant({ remoteAddr: memory.data.addr, rkey: memory.data.rkey });
  const end = new Endpoint(context, memory, await request.accept({ ...memory.options, privateData: grant }));

  const hash = createHash('sha256');
  let received = 0;
  for (;;) {
    const { completion, message } = await end.hear();
    // The sender's last message is its digest.
    if (completion.opcode === WcOpcode.RECV) {
      const same = received === totalBytes && hash.digest().equals(message);
      // Before the sender is told, which then tells the user.
      if (same) out?.keep();
      await end.send(Uint8Array.of(same ? Verdict.SAME_DIGEST : Verdict.OTHER_DIGEST));
      break;
    }
    // The immediate of a leg's last write says how many bytes the leg has.
    const leg = end.data.subarray(0, completion.immData);
    if (leg.length !== completion.immData) throw new ToolError(`A leg of ${completion.immData} bytes is too long.`);
    hash.update(leg);
    out?.write(leg);
    received += leg.length;
    await end.send(Uint8Array.of(Verdict.GO_ON));
  }
  // The sender hangs up once it has the verdict.
  await end.closed;
  await end.close();
  tell({ kind: 'finished', counters: context.counters() });
  context.close();
}
