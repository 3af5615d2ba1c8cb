import { AccessFlags, flagNames, isOneOf, MwType, nameOf } from '../../../device/ibta/index.js';
import { isAddress, isU32 } from '../address.js';
import { invalid, type Problem } from '../errors.js';
import { addressProblem, flagBitsProblem, isObject, show, u32Problem } from './values.js';

// Binds as they may come from a program that no compiler has checked. Every Mw and MwBindInfo is one of these.

interface LooseWindow {
  readonly type?: unknown;
  readonly pd?: unknown;
}

interface LooseBindInfo {
  readonly mr?: unknown;
  readonly addr?: unknown;
  readonly length?: unknown;
  readonly mwAccessFlags?: unknown;
}

/** What a window may be given. LOCAL_WRITE and MW_BIND mean nothing there, and rxe and mlx5 let them pass as well. */
const WINDOW_ACCESS =
  AccessFlags.LOCAL_WRITE |
  AccessFlags.REMOTE_WRITE |
  AccessFlags.REMOTE_READ |
  AccessFlags.REMOTE_ATOMIC |
  AccessFlags.MW_BIND |
  AccessFlags.ZERO_BASED |
  AccessFlags.FLUSH_GLOBAL |
  AccessFlags.FLUSH_PERSISTENT;

/** The protection domain itself, where a parent domain stands for it. */
function plainDomain(pd: unknown): unknown {
  let domain = pd;
  while (isObject(domain) && 'pd' in domain && isObject(domain.pd)) domain = domain.pd;
  return domain;
}

/** Why there are no windows of this type, or undefined when there are. */
export function mwTypeProblem(type: unknown): Problem | undefined {
  if (typeof type === 'number' && isOneOf(MwType, type)) return undefined;
  return invalid(`there are no memory windows of type ${show(type)}`, 'Choose one of MwType');
}

/** What both ways of binding ask of a window and of what it is to open (protocol/services.md 3.7). */
function bindProblem(type: MwType, mw: unknown, bindInfo: unknown, advice: string): Problem | undefined {
  if (!isObject(mw)) return invalid('mw is not a memory window', 'allocMw makes one');
  const window: LooseWindow = mw;
  if (window.type !== type) {
    const has = typeof window.type === 'number' ? nameOf(MwType, window.type) : show(window.type);
    return invalid(`the window is of type ${has}, and this binds those of ${nameOf(MwType, type)}`, advice);
  }
  if (!isObject(bindInfo)) return invalid('bindInfo is missing', 'It says what the window is to open; {} for nothing');
  const info: LooseBindInfo = bindInfo;
  const { addr = 0, length = 0, mwAccessFlags = 0 } = info;
  if (!isAddress(addr)) return addressProblem('bindInfo.addr', addr);
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) {
    return invalid(`bindInfo.length is ${show(length)}`, 'It is a number of bytes, never negative');
  }
  const flags = flagBitsProblem('bindInfo.mwAccessFlags', 'AccessFlags', WINDOW_ACCESS, mwAccessFlags);
  if (flags !== undefined) return flags;
  if (type === MwType.TYPE_1 && isU32(mwAccessFlags) && (mwAccessFlags & AccessFlags.ZERO_BASED) !== 0) {
    return invalid(`a window of type 1 cannot have ${flagNames(AccessFlags, AccessFlags.ZERO_BASED)}`);
  }
  if (info.mr === undefined) {
    if ((addr === 0 || addr === 0n) && length === 0) return undefined;
    return invalid('bindInfo has an address or a length, but no region', 'Name the region by bindInfo.mr');
  }
  return isObject(info.mr) && 'lkey' in info.mr
    ? undefined
    : invalid('bindInfo.mr is not a memory region', 'regMr makes one');
}

/** Why `bindMw` cannot bind a window so, or undefined when it can (`man ibv_bind_mw`, protocol/services.md 3.7). */
export function bindVerbProblem(mw: unknown, bindInfo: unknown): Problem | undefined {
  const problem = bindProblem(MwType.TYPE_1, mw, bindInfo, 'Post a BIND_MW request for a window of type 2');
  if (problem !== undefined) return problem;
  if (!isObject(mw) || !isObject(bindInfo) || !('mr' in bindInfo) || !isObject(bindInfo.mr)) return undefined;
  const window: LooseWindow = mw;
  const region: LooseWindow = bindInfo.mr;
  if (plainDomain(window.pd) === plainDomain(region.pd)) return undefined;
  const message = 'window and region are of different protection domains';
  return { errno: 'EPERM', message, advice: 'Allocate the window in the domain of the region' };
}

/**
 * Why a BIND_MW request cannot bind a window so, or undefined when it can (protocol/services.md 3.7). What the region and the
 * window's state have to say is found when it is carried out: MW_BIND_ERR.
 */
export function bindRequestProblem(mw: unknown, rkey: unknown, bindInfo: unknown): Problem | undefined {
  const problem = bindProblem(MwType.TYPE_2, mw, bindInfo, 'qp.bindMw binds a window of type 1');
  if (problem !== undefined) return problem;
  return isU32(rkey) ? undefined : u32Problem('bindMw.rkey', rkey);
}
