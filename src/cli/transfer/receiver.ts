import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { AccessFlags, WcOpcode, openDevice } from '../../index.js';
import { ToolError, fileFailure } from '../errors.js';
import { openOptions } from '../options.js';
import { Endpoint } from './endpoint.js';
import { type Answer, type EndAddress, type StartOrder, Verdict } from './messages.js';

/** How a receiver reaches the process that started it. */
export interface ReceiverPipe {
  tell(answer: Answer): void;
  senderEnd(): Promise<EndAddress>;
}

/** Writes all of `bytes`, since a write may take less. */
function writeAll(fd: number, bytes: Uint8Array, file: string): void {
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
  } catch (error) {
    throw fileFailure(file, 'written', error);
  }
}

function create(file: string): number {
  try {
    return openSync(file, 'w');
  } catch (error) {
    throw fileFailure(file, 'written', error);
  }
}

/** The far side: lets itself be written to, and checks what came. */
export async function receive(order: StartOrder, pipe: ReceiverPipe): Promise<void> {
  const { host, address: addr, output } = order;
  const hosting = { ...(host === undefined ? {} : { host }), ...(addr === undefined ? {} : { addr }) };
  // The sender's NIC is of the same kind and gives the same warnings, and ours records nothing: one telling is enough.
  const context = openDevice({ ...openOptions(hosting), warn: () => {} });
  const out = output === undefined ? undefined : { file: output, fd: create(output) };
  const end = new Endpoint(
    context,
    Math.min(order.legBytes, order.totalBytes),
    AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE,
  );
  end.expect();
  pipe.tell({ kind: 'ready', end: end.local });
  end.connect(await pipe.senderEnd());
  pipe.tell({ kind: 'connected' });

  const hash = createHash('sha256');
  let received = 0;
  // Our own messages that the sender has not acknowledged yet.
  let unacknowledged = 0;
  const say = (verdict: number): void => {
    end.send(Uint8Array.of(verdict));
    unacknowledged += 1;
  };
  for (;;) {
    const completion = await end.next();
    if (completion.opcode === WcOpcode.SEND) {
      unacknowledged -= 1;
      continue;
    }
    // The sender's last message is its digest.
    if (completion.opcode === WcOpcode.RECV) {
      const theirs = end.message(completion);
      const same = received === order.totalBytes && hash.digest().equals(theirs);
      say(same ? Verdict.SAME_DIGEST : Verdict.OTHER_DIGEST);
      break;
    }
    // The immediate of a leg's last write says how many bytes the leg has.
    const leg = end.data.subarray(0, completion.immData);
    if (leg.length !== completion.immData) throw new ToolError(`A leg of ${completion.immData} bytes is too long.`);
    hash.update(leg);
    if (out !== undefined) writeAll(out.fd, leg, out.file);
    received += leg.length;
    end.expect();
    say(Verdict.GO_ON);
  }
  for (; unacknowledged > 0; unacknowledged -= 1) await end.next();
  if (out !== undefined) closeSync(out.fd);
  pipe.tell({ kind: 'finished', counters: context.counters() });
  await end.close();
  context.close();
}
