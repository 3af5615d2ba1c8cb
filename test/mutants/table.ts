import type { Mutant } from './mutant.js';
import { clients } from './rules/clients.js';
import { connections } from './rules/connections.js';
import { counters } from './rules/counters.js';
import { deviceMemory } from './rules/device-memory.js';
import { driver } from './rules/driver.js';
import { foreignMemory } from './rules/foreign-memory.js';
import { hosts } from './rules/hosts.js';
import { kv } from './rules/kv.js';
import { kvGateway } from './rules/kv-gateway.js';
import { kvOneSided } from './rules/kv-one-sided.js';
import { kvPersistence } from './rules/kv-persistence.js';
import { kvProtocol } from './rules/kv-protocol.js';
import { layers } from './rules/layers.js';
import { memory } from './rules/memory.js';
import { messages } from './rules/messages.js';
import { neighbours } from './rules/neighbours.js';
import { packets } from './rules/packets.js';
import { programs } from './rules/programs.js';
import { queues } from './rules/queues.js';
import { requester } from './rules/requester.js';
import { responder } from './rules/responder.js';
import { rsocket } from './rules/rsocket.js';
import { services } from './rules/services.js';
import { ucpCalls } from './rules/ucp-calls.js';
import { ucpTags } from './rules/ucp-tags.js';
import { ucpUd } from './rules/ucp-ud.js';
import { xio } from './rules/xio.js';
import { xioDirect } from './rules/xio-direct.js';
import { xioTcp } from './rules/xio-tcp.js';
import { ucpWireup } from './rules/ucp-wireup.js';

/** Every rule that is switched off, one at a time. */
export const mutants: readonly Mutant[] = [
  ...packets,
  ...responder,
  ...requester,
  ...memory,
  ...foreignMemory,
  ...deviceMemory,
  ...queues,
  ...services,
  ...clients,
  ...connections,
  ...counters,
  ...driver,
  ...neighbours,
  ...hosts,
  ...programs,
  ...layers,
  ...messages,
  ...rsocket,
  ...kv,
  ...kvGateway,
  ...kvOneSided,
  ...kvPersistence,
  ...kvProtocol,
  ...ucpUd,
  ...ucpTags,
  ...ucpCalls,
  ...xio,
  ...xioDirect,
  ...xioTcp,
  ...ucpWireup,
];
