import { EventType, Syndrome } from '../../ibta/index.js';
import { NakCode } from '../../wire/index.js';

/** Why a responder refuses a request whose memory fails it, by what the mover has found. */
export function refusalOf(syndrome: Syndrome): Syndrome {
  return syndrome === Syndrome.LOCAL_MEMORY_DEVICE ? Syndrome.RESPONDER_MEMORY_DEVICE : Syndrome.RESPONDER_MEMORY_FAULT;
}

/** What it tells the requester: a device that fails is no fault of the key (protocol/packets.md 1.4). */
export function nakOf(refusal: Syndrome): number {
  return refusal === Syndrome.RESPONDER_MEMORY_DEVICE ? NakCode.REMOTE_OPERATIONAL_ERROR : NakCode.REMOTE_ACCESS_ERROR;
}

export function eventOf(nakCode: number): EventType {
  return nakCode === NakCode.REMOTE_ACCESS_ERROR ? EventType.QP_ACCESS_ERR : EventType.QP_FATAL;
}
