import { CmError, type Commands as CmCommands, type ConnectionManager } from '../cm/index.js';
import { type DeviceMemoryPlace, QpType } from '../ibta/index.js';
import { LinkError } from '../link/index.js';
import { CommandError, type Doorbells, type ForeignMemory, type MrAttributes, type Nic } from '../nic/index.js';
import type { BytesRef, CommandTable, MemoryRef, Verb } from './command.js';

export type Handlers = { readonly [V in Verb]: (argument: CommandTable[V][0]) => CommandTable[V][1] };

/** What commands need of the client that sends them. */
export interface CommandTarget {
  readonly device: CommandDevice;
  /** The page that rings for its queue pairs. */
  readonly doorbells: Doorbells;
  readonly cm: CmCommands;
  /** Finds the memory of a registration. @throws CommandError when it cannot be had here */
  resolve(memory: BytesRef): Uint8Array;
  /** Reaches memory of a device. @throws CommandError when it cannot be reached from here */
  reach(place: DeviceMemoryPlace): ForeignMemory;
  /** Notes that a completion channel has this ring, or with undefined that it has none any more. */
  setChannel(handle: number, memory: ArrayBufferLike | undefined): void;
}

/** What they need of the device, which is not one client's alone. */
export interface CommandDevice {
  readonly nic: Nic;
  readonly cm: ConnectionManager;
  /** Opens the way of Ethernet frames, where it is not open. @throws CommandError when there is none */
  requireFrames(): void;
  /** Closes it when no queue pair wants it any more. */
  releaseFrames(): void;
  /** Whether the link has its address, without which the port is down (protocol/services.md 3.11). */
  readonly hasAddress: boolean;
  /** Notes whether the administrator has the port up. */
  setWanted(up: boolean): void;
  /** The board has failed: nothing can be done any more but to end what was made. */
  lose(): void;
  linkStatistics(): Record<string, number>;
}

type Place = Pick<MrAttributes, 'bytes' | 'foreign'>;

const NO_BYTES = new Uint8Array(0);

const lowWord = (address: bigint): number => Number(address & 0xffffffffn) | 0;
const highWord = (address: bigint): number => Number(address >> 32n) | 0;

/** Gives what a link or a connection manager refuses the shape in which a NIC refuses. */
export function asCommand<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof LinkError) throw new CommandError(error.errno, error.message.replace(/\.$/, ''));
    if (error instanceof CmError) throw new CommandError(error.errno, error.message);
    throw error;
  }
}

/** What an adapter does for each command of a client: mostly what the NIC's control verb of the same name does. */
export function commandHandlers(target: CommandTarget): Handlers {
  const { device, cm, doorbells } = target;
  const { nic } = device;
  const { control } = nic;
  /** Carries out what is asked for memory, and lets go of what was reached for it when that is refused. */
  const placed = <T>(memory: MemoryRef, act: (place: Place) => T): T => {
    if (memory.kind === 'foreign') return act({ bytes: NO_BYTES, foreign: memory.memory });
    if (memory.kind !== 'device') return act({ bytes: target.resolve(memory) });
    const foreign = target.reach(memory.place);
    try {
      return act({ bytes: NO_BYTES, foreign });
    } catch (error) {
      foreign.close?.();
      throw error;
    }
  };
  const placedIfAny = <T>(memory: MemoryRef | undefined, act: (place: Partial<Place>) => T): T =>
    memory === undefined ? act({}) : placed(memory, act);
  return {
    allocPd: () => control.allocPd(),
    deallocPd: (pd) => {
      control.deallocPd(pd);
    },
    regMr: ({ pd, memory, iova, access }) =>
      placed(memory, (place) => control.regMr({ pd, ...place, iovaHi: highWord(iova), iovaLo: lowWord(iova), access })),
    allocNullMr: (pd) => control.allocNullMr(pd),
    reregMr: ({ handle, pd, access, memory, iova }) =>
      placedIfAny(memory, (place) =>
        control.reregMr({
          handle,
          ...(pd === undefined ? {} : { pd }),
          ...(access === undefined ? {} : { access }),
          ...place,
          ...(iova === undefined ? {} : { iovaHi: highWord(iova), iovaLo: lowWord(iova) }),
        }),
      ),
    deregMr: (handle) => {
      control.deregMr(handle);
    },
    allocMw: (attributes) => control.allocMw(attributes),
    deallocMw: (handle) => {
      control.deallocMw(handle);
    },
    createCompChannel: (memory) => {
      const handle = control.createCompChannel(memory);
      target.setChannel(handle, memory);
      return handle;
    },
    destroyCompChannel: (handle) => {
      control.destroyCompChannel(handle);
      target.setChannel(handle, undefined);
    },
    createCompCntr: ({ type, memory }) => control.createCompCntr(type, memory),
    destroyCompCntr: (handle) => {
      control.destroyCompCntr(handle);
    },
    attachCompCntr: ({ qpn, handle, opMask }) => {
      control.attachCompCntr(qpn, handle, opMask);
    },
    createCq: (create) => control.createCq(create),
    resizeCq: ({ cqn, memory, entries }) => {
      control.resizeCq(cqn, memory, entries);
    },
    modifyCq: ({ cqn, cqCount, cqPeriodUs }) => {
      control.modifyCq(cqn, cqCount, cqPeriodUs);
    },
    destroyCq: (cqn) => {
      control.destroyCq(cqn);
    },
    openXrcd: () => control.openXrcd(),
    closeXrcd: (handle) => {
      control.closeXrcd(handle);
    },
    createSrq: (create) => control.createSrq(create),
    modifySrq: (change) => {
      control.modifySrq(change);
    },
    querySrq: (srqn) => control.querySrq(srqn),
    destroySrq: (srqn) => {
      control.destroySrq(srqn);
    },
    createAh: ({ pd, attr }) => control.createAh(pd, attr),
    destroyAh: (handle) => {
      control.destroyAh(handle);
    },
    createQp: (create) => {
      try {
        // The NIC asks for it once in its life; here it is closed in between.
        if (create.type === QpType.RAW_PACKET) device.requireFrames();
        return control.createQp({ ...create, doorbells });
      } catch (error) {
        device.releaseFrames();
        throw error;
      }
    },
    modifyQp: ({ qpn, attr }) => {
      control.modifyQp(qpn, attr);
    },
    modifyRateLimit: ({ qpn, rateLimitKbps, maxBurstBytes, typicalPacketBytes }) => {
      control.modifyRateLimit(qpn, rateLimitKbps, maxBurstBytes, typicalPacketBytes);
    },
    queryQp: (qpn) => control.queryQp(qpn),
    viewQp: (qpn) => control.viewQp(qpn),
    qpCounters: (qpn) => control.qpCounters(qpn),
    destroyQp: (qpn) => {
      control.destroyQp(qpn);
      device.releaseFrames();
    },
    attachMcast: ({ qpn, gid }) => {
      control.attachMcast(qpn, gid);
    },
    detachMcast: ({ qpn, gid }) => {
      control.detachMcast(qpn, gid);
    },
    watchQp: ({ qpn, watcher }) => {
      nic.objects.qps.get(qpn).watch(watcher);
    },
    watchCq: ({ cqn, watcher }) => {
      nic.objects.cqs.get(cqn).watcher = watcher;
    },
    watchSrq: ({ srqn, watcher }) => {
      nic.objects.srqs.get(srqn).watch(watcher);
    },
    queryPort: () => control.queryPort(),
    administer: ({ gids, linkUp, ...change }) => {
      const table = gids === undefined ? {} : { gids: [nic.port.gids[0], ...gids] };
      const link = linkUp === undefined ? {} : { linkUp: linkUp && device.hasAddress };
      control.administer({ ...change, ...link, ...table });
      if (linkUp !== undefined) device.setWanted(linkUp);
      if (change.fatal === true) device.lose();
    },
    counters: () => ({
      nic: nic.counters.snapshot(),
      link: device.linkStatistics(),
      cm: device.cm.counters.snapshot(),
    }),
    cmCreateId: (create) => asCommand(() => cm.cmCreateId(create)),
    cmBind: (bind) => asCommand(() => cm.cmBind(bind)),
    cmShare: (share) => asCommand(() => cm.cmShare(share)),
    cmListen: (listen) => asCommand(() => cm.cmListen(listen)),
    cmConnect: (connect) => asCommand(() => cm.cmConnect(connect)),
    cmTaken: (id) => asCommand(() => cm.cmTaken(id)),
    cmAccept: (accept) => asCommand(() => cm.cmAccept(accept)),
    cmReject: (reject) => asCommand(() => cm.cmReject(reject)),
    cmEstablish: (id) => asCommand(() => cm.cmEstablish(id)),
    cmNotify: (id) => asCommand(() => cm.cmNotify(id)),
    cmDisconnect: (id) => asCommand(() => cm.cmDisconnect(id)),
    cmInitQpAttr: (init) => asCommand(() => cm.cmInitQpAttr(init)),
    cmDestroyId: (id) => asCommand(() => cm.cmDestroyId(id)),
    cmTakeEvents: (count) => cm.cmTakeEvents(count),
  };
}
