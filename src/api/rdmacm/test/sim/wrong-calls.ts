import { PrivateDataBytes } from '../../../../device/ibta/index.js';
import {
  CmEventType,
  CmOption,
  createEventChannel,
  EventType,
  McJoinFlag,
  QpState,
  QpType,
} from '../../../../entry/index.js';
import type { Actor } from './actor.js';
import { familyOf, GROUPS, hasNoQp, here, type Stray } from './stray.js';

const NO_SUCH_PORT = 65536;
const goneChannel = createEventChannel();
goneChannel.destroy();

const isConnected = ({ space }: Actor): boolean => space === 'TCP';
const tooLong = (most: number): Uint8Array => new Uint8Array(most + 1);

/** What is wrong about these is so in every state. */
type WrongStray = Omit<Stray, 'wrong' | 'legal'>;

const invalid: readonly WrongStray[] = [
  { name: 'bindAddr to no address', call: 'bindAddr', act: ({ id }) => id.bindAddr({ host: 'nonsense' }) },
  { name: 'bindAddr to no port', call: 'bindAddr', act: (actor) => actor.id.bindAddr(here(actor, NO_SUCH_PORT)) },
  { name: 'listen with no backlog', call: 'listen', act: ({ id }) => id.listen(-1) },
  {
    name: 'resolveAddr of no port',
    call: 'resolveAddr',
    act: (actor) => actor.id.resolveAddr(here(actor, NO_SUCH_PORT)),
  },
  {
    name: 'resolveAddr in no time',
    call: 'resolveAddr',
    act: (actor) => actor.id.resolveAddr(here(actor, 7000), { timeoutMs: NaN }),
  },
  { name: 'resolveRoute in no time', call: 'resolveRoute', act: ({ id }) => id.resolveRoute(-1) },
  {
    name: 'connect with too much to say',
    call: 'connect',
    act: ({ id, space }) =>
      id.connect({
        privateData: tooLong(space === 'TCP' ? PrivateDataBytes.CONNECT : PrivateDataBytes.RESOLVE),
        qpNum: 77,
      }),
  },
  {
    name: 'connect with more READs than there can be',
    call: 'connect',
    act: ({ id, host }) => id.connect({ responderResources: host.mostReads + 1, qpNum: 77 }),
  },
  {
    name: 'connect with too many retries',
    call: 'connect',
    act: ({ id }) => id.connect({ retryCount: 8, qpNum: 77 }),
  },
  {
    name: 'connect without a queue pair',
    call: 'connect',
    fits: (actor) => isConnected(actor) && hasNoQp(actor),
    act: ({ id }) => id.connect(),
  },
  {
    name: 'connect with a queue pair for datagrams',
    call: 'connect',
    fits: (actor) => isConnected(actor) && hasNoQp(actor),
    act: ({ id }) => id.connect({ qpNum: 77, qpType: QpType.RAW_PACKET }),
  },
  {
    name: 'accept with too much to say',
    call: 'accept',
    act: ({ id, space }) =>
      id.accept({
        privateData: tooLong(space === 'TCP' ? PrivateDataBytes.ACCEPT : PrivateDataBytes.RESOLVED),
        qpNum: 77,
      }),
  },
  {
    name: 'accept with more READs than there can be',
    call: 'accept',
    act: ({ id, host }) => id.accept({ initiatorDepth: host.mostReads + 1, qpNum: 77 }),
  },
  { name: 'accept without a queue pair', call: 'accept', fits: hasNoQp, act: ({ id }) => id.accept() },
  {
    name: 'accept with a queue pair of another type',
    call: 'accept',
    fits: hasNoQp,
    act: ({ id, space }) => id.accept({ qpNum: 77, qpType: space === 'TCP' ? QpType.UC : QpType.RC }),
  },
  {
    name: 'reject with too much to say',
    call: 'reject',
    act: ({ id, space }) => id.reject(tooLong(space === 'TCP' ? PrivateDataBytes.REJECT : PrivateDataBytes.RESOLVED)),
  },
  { name: 'notify of something else', call: 'notify', act: ({ id }) => id.notify(EventType.SQ_DRAINED) },
  {
    name: 'createQp in a domain of another device',
    call: 'createQp',
    act: ({ id, host, world }) => void id.createQp(world.foreignPd(host), host.qpInit),
  },
  {
    name: 'createQp of another type',
    call: 'createQp',
    act: ({ id, host, space }) =>
      void id.createQp(host.pd, { ...host.qpInit, qpType: space === 'TCP' ? QpType.UD : QpType.RC }),
  },
  { name: 'createTargetQp', call: 'createQp', act: ({ id }) => void id.createTargetQp() },
  { name: 'destroyQp without one', call: 'createQp', fits: hasNoQp, act: ({ id }) => id.destroyQp() },
  { name: 'destroySrq without one', call: 'createQp', act: ({ id }) => id.destroySrq() },
  { name: 'initQpAttr for ERR', call: 'initQpAttr', act: ({ id }) => void id.initQpAttr(QpState.ERR) },
  {
    name: 'joinMulticast of no group',
    call: 'joinMulticast',
    act: (actor) => actor.id.joinMulticast(here(actor)),
  },
  {
    name: 'joinMulticast of the other version of IP',
    call: 'joinMulticast',
    act: (actor) => actor.id.joinMulticast({ host: GROUPS[familyOf(actor) === 4 ? 6 : 4] }),
  },
  {
    name: 'joinMulticast of any',
    call: 'joinMulticast',
    act: ({ id }) => id.joinMulticastEx({ addr: {}, joinFlags: McJoinFlag.FULLMEMBER }),
  },
  { name: 'leaveMulticast of nothing', call: 'leaveMulticast', act: ({ id }) => id.leaveMulticast({}) },
  { name: 'setOption TOS to nonsense', call: 'setOption', act: ({ id }) => id.setOption(CmOption.TOS, 0x100) },
  {
    name: 'setOption ACK_TIMEOUT to nonsense',
    call: 'setOption',
    act: ({ id }) => id.setOption(CmOption.ACK_TIMEOUT, 32),
  },
  {
    name: 'setOption ACK_TIMEOUT where nothing is acknowledged',
    call: 'setOption',
    fits: (actor) => !isConnected(actor),
    act: ({ id }) => id.setOption(CmOption.ACK_TIMEOUT, 14),
  },
  {
    name: 'writeCmEvent of another event',
    call: 'writeCmEvent',
    act: ({ id }) => id.writeCmEvent(CmEventType.ESTABLISHED, 0, 0n),
  },
  {
    name: 'writeCmEvent of less than nothing',
    call: 'writeCmEvent',
    act: ({ id }) => id.writeCmEvent(CmEventType.USER, 0, -1n),
  },
  {
    name: 'migrate to a channel that is gone',
    call: 'migrate',
    act: ({ id }) => id.migrate(goneChannel),
  },
];

/** No device of this program has that address. */
const elsewhere: readonly Stray[] = [
  {
    name: 'bindAddr to an address of nobody here',
    call: 'bindAddr',
    wrong: () => 'EADDRNOTAVAIL',
    legal: 'nobody',
    act: ({ id, world }) => id.bindAddr({ host: world.addressOf('nowhere') }),
  },
  {
    name: 'resolveAddr from an address of nobody here',
    call: 'resolveAddr',
    wrong: () => 'EADDRNOTAVAIL',
    legal: 'nobody',
    // One that is bound is not asked where from.
    fits: ({ state }) => state !== 'bound',
    act: (actor) => actor.id.resolveAddr(here(actor, 7000), { source: { host: actor.world.addressOf('nowhere') } }),
  },
];

export const wrongCalls: readonly Stray[] = [
  ...invalid.map((one) => ({ ...one, wrong: () => 'EINVAL' as const, legal: 'nobody' as const })),
  ...elsewhere,
];
