import {
  AccessFlags,
  AdviseMrAdvice,
  AdviseMrFlags,
  alloc,
  type Context,
  type DeviceAttrEx,
  type Mr,
  OdpGeneralCaps,
  OdpTransportCaps,
  type Pd,
  VerbsError,
} from '../../../entry/index.js';
import { attempt, ToolError } from '../../kit/errors.js';

const PAGE_BYTES = 4096;

/** What of a device a ping-pong may ask for beyond the ordinary. */
export interface Wishes {
  readonly odp: boolean;
  readonly implicitOdp: boolean;
  readonly prefetch: boolean;
  readonly timestamps: boolean;
  readonly deviceMemory: boolean;
}

/** What on-demand paging a tool needs, in the words of the C tool for a device without it. */
export interface OdpNeed {
  readonly caps: number;
  readonly granted: (attr: DeviceAttrEx) => number;
  readonly what: string;
}

export const RC_ODP: OdpNeed = {
  caps: OdpTransportCaps.SUPPORT_SEND | OdpTransportCaps.SUPPORT_RECV,
  granted: (attr) => attr.odpCaps.perTransportCaps.rcOdpCaps,
  what: 'RC send and receive',
};

export const SRQ_ODP: OdpNeed = {
  caps: OdpTransportCaps.SUPPORT_SEND | OdpTransportCaps.SUPPORT_SRQ_RECV,
  granted: (attr) => attr.odpCaps.perTransportCaps.rcOdpCaps,
  what: 'RC send, receive and srq',
};

export const XRC_ODP: OdpNeed = {
  caps: OdpTransportCaps.SUPPORT_SEND | OdpTransportCaps.SUPPORT_SRQ_RECV,
  granted: (attr) => attr.xrcOdpCaps,
  what: 'XRC send, receive and srq',
};

/** Refuses what the device does not have, in the words of the C tools. */
export function refuseUnsupported(context: Context, wishes: Wishes, need: OdpNeed): void {
  const attr = context.queryDeviceEx();
  if (wishes.odp) {
    const { generalCaps } = attr.odpCaps;
    if ((generalCaps & OdpGeneralCaps.SUPPORT) === 0 || (need.granted(attr) & need.caps) !== need.caps) {
      throw new ToolError(`The device isn't ODP capable or does not support ${need.what} with ODP`);
    }
    if (wishes.implicitOdp && (generalCaps & OdpGeneralCaps.SUPPORT_IMPLICIT) === 0) {
      throw new ToolError("The device doesn't support implicit ODP");
    }
  }
  if (wishes.timestamps && attr.completionTimestampMask === 0n) {
    throw new ToolError("The device isn't completion timestamp capable");
  }
  if (wishes.deviceMemory) throw new ToolError("Device doesn't support dm allocation");
}

/** Registers a buffer for a ping-pong, on demand if that is wished. */
export function registerBuffer(pd: Pd, bytes: number, fill: number, wishes: Pick<Wishes, 'odp' | 'prefetch'>): Mr {
  const memory = attempt("Couldn't allocate work buf", () => alloc(bytes)).fill(fill);
  const access = AccessFlags.LOCAL_WRITE | (wishes.odp ? AccessFlags.ON_DEMAND : 0);
  const mr = attempt("Couldn't register MR", () => pd.regMr(memory, access));
  if (wishes.prefetch) prefetch(pd, mr);
  return mr;
}

function prefetch(pd: Pd, mr: Mr): void {
  try {
    pd.adviseMr(AdviseMrAdvice.PREFETCH_WRITE, AdviseMrFlags.FLUSH, [mr.sge()]);
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    process.stderr.write(`Couldn't prefetch MR(${error.errno}). Continue anyway\n`);
  }
}

/** Marks each page of a message, so that the receiver can tell whether it came. */
export function markPages(message: Uint8Array): void {
  for (let at = 0; at < message.length; at += PAGE_BYTES) message[at] = 0;
}

/** The pages that do not bear the mark. */
export function unmarkedPages(message: Uint8Array): number[] {
  const pages: number[] = [];
  for (let at = 0; at < message.length; at += PAGE_BYTES) {
    if (message[at] !== 0) pages.push(at / PAGE_BYTES);
  }
  return pages;
}
