import { isIP } from 'node:net';
import type { CompChannel } from '../../../api/verbs/index.js';
import { completionAt, completionRing, nameOfCq } from '../../../providers/soft/index.js';
import { CompletionTranslation, HeaderType } from '../../rings/completion-translation.js';
import { RxeCqe } from '../../rings/layouts.js';
import { ProgramQueue } from '../../rings/program-queue.js';
import { type Caller, command, order } from '../command.js';
import { GUEST_LIMITS } from '../device-limits.js';
import { EventFile } from '../event-file.js';
import type { EventSubject, GuestChannel, GuestCq } from '../guest-objects.js';
import { Refusal, requireWithin } from '../../refusal.js';
import { Structs } from '../structs.js';
import type { GuestContext } from '../guest-context.js';

const { COMP_EVENT, CREATE_COMP_CHANNEL, CREATE_CQ, CREATE_CQ_EX, DESTROY_CQ, EMPTY, HANDLE_BEHIND } = Structs;
const { REQ_NOTIFY_CQ, RESIZE_CQ } = Structs;

function checkSize(cqe: number): void {
  requireWithin('cqe', cqe, 1, GUEST_LIMITS.maxCqe);
}

interface CqRequest {
  readonly userHandle: bigint;
  readonly cqe: number;
  readonly compVector: number;
  /** The program's descriptor of a channel, or -1. */
  readonly channel: number;
}

function createCq(file: GuestContext, { userHandle, cqe, compVector, channel: fd }: CqRequest, caller: Caller) {
  requireWithin('comp_vector', compVector, 0, file.context.numCompVectors - 1);
  const channel = fd < 0 ? undefined : file.channelOf(caller.tid, fd);
  if (fd >= 0 && channel === undefined)
    throw new Refusal('EBADF', `descriptor ${fd} is no completion channel of this context. Was it closed?`);
  checkSize(cqe);
  const queue = new ProgramQueue(file.rings, cqe, RxeCqe.BYTES);
  try {
    const cq = file.context.createCq({
      cqe: queue.capacity,
      compVector,
      cqContext: { userHandle } satisfies EventSubject,
      ...(channel === undefined ? {} : { channel: channel.channel }),
    });
    const completions = new CompletionTranslation(
      queue,
      () => completionRing(cq),
      isIP(file.context.address) === 4 ? HeaderType.IPV4 : HeaderType.IPV6,
      file.failures === undefined ? undefined : (at) => file.explain(completionAt(cq, at)),
    );
    const guest: GuestCq = {
      cq,
      completions,
      userHandle,
      channel,
      armed: false,
      requests: 0,
      solicitedOnly: false,
      isMoving: false,
    };
    if (channel !== undefined) channel.users += 1;
    const handle = file.addCq(guest);
    return {
      answer: { handle, cqe: queue.capacity },
      driver: queue.place,
      undo: () => void endCq(file, handle),
    };
  } catch (error) {
    queue.release();
    throw error;
  }
}

function endCq(file: GuestContext, handle: number): GuestCq {
  const guest = file.cqs.getToEnd(handle);
  guest.cq.destroy();
  file.removeCq(handle);
  guest.completions.queue.release();
  if (guest.channel !== undefined) guest.channel.users -= 1;
  return guest;
}

export const completionCommands = [
  command({
    name: 'CREATE_COMP_CHANNEL',
    number: 17,
    request: EMPTY,
    answer: CREATE_COMP_CHANNEL.answer,
    act: (file, _, caller) => {
      const events = new EventFile(COMP_EVENT.bytes);
      let channel: CompChannel | undefined;
      try {
        channel = file.context.createCompChannel();
        const guest: GuestChannel = { channel, events, users: 0 };
        // It is taken away again when the program closes it, not before.
        const fd = caller.giveFd(events.fd);
        file.channels.set(events.name, guest);
        return { answer: { fd } };
      } catch (error) {
        channel?.destroy();
        events.close();
        throw error;
      }
    },
  }),
  command({
    name: 'CREATE_CQ',
    number: 18,
    request: CREATE_CQ.request,
    answer: CREATE_CQ.answer,
    driver: CREATE_CQ.driverAnswer,
    act: createCq,
  }),
  command({
    name: 'CREATE_CQ_EX',
    number: 18,
    extended: true,
    request: CREATE_CQ_EX.request,
    answer: CREATE_CQ_EX.answer,
    driver: CREATE_CQ.driverAnswer,
    act: (file, request, caller) => {
      if (request.compMask !== 0) throw new Refusal('EINVAL', 'comp_mask has fields that rxe does not know');
      // Timestamps and overruns to be ignored: rxe has neither.
      if (request.flags !== 0)
        throw new Refusal(
          'EOPNOTSUPP',
          'rxe has no completion timestamps and ignores no overrun. Leave those flags out',
        );
      return createCq(file, request, caller);
    },
  }),
  command({
    name: 'RESIZE_CQ',
    number: 19,
    request: RESIZE_CQ.request,
    answer: RESIZE_CQ.answer,
    driver: CREATE_CQ.driverAnswer,
    act: (file, { handle, cqe }) => {
      checkSize(cqe);
      const guest = file.cqs.get(handle);
      const { cq, completions } = guest;
      const before = completions.queue;
      const queue = new ProgramQueue(file.rings, cqe, RxeCqe.BYTES);
      try {
        if (!completions.moveTo(queue))
          throw new Refusal('EINVAL', `cqe is ${cqe}, and more completions wait to be polled. Poll them first`);
        guest.isMoving = true;
        cq.resize(queue.capacity);
      } catch (error) {
        if (completions.queue === queue) completions.moveTo(before);
        queue.release();
        throw error;
      } finally {
        guest.isMoving = false;
      }
      before.release();
      return { answer: { cqe: queue.capacity }, driver: queue.place };
    },
  }),
  command({
    name: 'DESTROY_CQ',
    number: 20,
    request: HANDLE_BEHIND,
    answer: DESTROY_CQ.answer,
    act: (file, { handle }) => {
      const { cq, userHandle, channel } = endCq(file, handle);
      const compEventsReported = channel?.events.forget(userHandle) ?? 0;
      const asyncEventsReported = file.asyncEvents.forget(userHandle);
      const ended = { call: 'ibv_destroy_cq', what: nameOfCq(cq), userHandle };
      if (asyncEventsReported > 0)
        file.remember({
          ...ended,
          eventsReported: asyncEventsReported,
          completedAt: 124,
          acknowledge: 'ibv_ack_async_event',
        });
      if (compEventsReported > 0)
        file.remember({
          ...ended,
          eventsReported: compEventsReported,
          completedAt: 120,
          acknowledge: 'ibv_ack_cq_events',
        });
      return { answer: { compEventsReported, asyncEventsReported } };
    },
  }),
  order({
    name: 'REQ_NOTIFY_CQ',
    repeatable: true,
    number: 23,
    request: REQ_NOTIFY_CQ.request,
    act: (file, { handle, solicitedOnly }) => {
      const guest = file.cqs.get(handle);
      if (guest.channel === undefined) return;
      // What came before is no reason for an event: it is in the program's queue when it looks after this.
      guest.completions.push();
      completionRing(guest.cq).arm(solicitedOnly !== 0);
      guest.armed = true;
      guest.requests += 1;
      guest.solicitedOnly = solicitedOnly !== 0;
    },
  }),
];
