import { AccessFlags, MwType, SendFlags, WrOpcode } from '../../src/entry/index.js';
import type { Draft } from './post.js';
import type { Binding, QpRecord, WindowRecord } from './things.js';
import { SendRecord } from './things.js';
import type { World } from './world.js';

/** A request to bind a window, as a rule one that can be bound so. */
export function draftBind(world: World, qp: QpRecord, hasty: boolean): Draft | undefined {
  const { random } = world;
  const { poster, host, life } = qp;
  const careless = (): boolean => hasty && random.chance(0.05);
  const good = (window: WindowRecord): boolean => {
    if (!window.alive || !(window.pd === qp.pd || careless())) return false;
    const free = window.type === MwType.TYPE_1 || (window.binding === undefined && window.pending.size === 0);
    return hasty || free;
  };
  const window = world.pick(host.windows.filter(good));
  const regions = host.regions.filter(({ alive, pd, access }) => {
    return alive && (careless() || (pd === qp.pd && (access & AccessFlags.MW_BIND) !== 0));
  });
  const region = world.pick(regions);
  if (poster === undefined || window === undefined || region === undefined) return undefined;
  const first = window.type === MwType.TYPE_1;
  const unbinds = first && random.chance(0.15);
  const wrong = hasty && random.chance(world.character.malice / 2);
  const offset = random.below(region.lengthBytes);
  const addr = region.iova + BigInt(offset);
  const lengthBytes = unbinds ? 0 : region.lengthBytes - offset + (wrong ? 1 : 0);
  const all = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
  const access = random.chance(0.8) ? all : random.u32() & all;
  const zeroBased = !first && random.chance(0.2);
  const mwAccessFlags = access | (zeroBased ? AccessFlags.ZERO_BASED : 0);
  const signalled = qp.sqSigAll || random.chance(0.8);
  const sendFlags = signalled ? SendFlags.SIGNALED : 0;
  const wrId = world.nextWrId();
  const request = new SendRecord(wrId, qp, WrOpcode.BIND_MW, [], 0, signalled, world.tick, life);
  const bindInfo = unbinds ? {} : { mr: region.api, addr, length: lengthBytes, mwAccessFlags };
  const bindingOf = (rkey: number): Binding => ({ region, rkey, addr, lengthBytes, access, qp, zeroBased });
  if (first) {
    // The key that the window gets is told by the call: what may be refused is asked first.
    if (window.pd !== region.pd || window.pd !== qp.pd) return undefined;
    const rkey = ((window.api.rkey & ~0xff) | ((window.api.rkey + 1) & 0xff)) >>> 0;
    request.binds = { window, binding: bindingOf(rkey) };
    return { request, post: () => poster.bindMw(window.api, { wrId: BigInt(wrId), sendFlags, bindInfo }) };
  }
  const rkey = ((window.api.rkey & ~0xff) | random.below(256)) >>> 0;
  request.binds = { window, binding: bindingOf(rkey) };
  const bindMw = { mw: window.api, rkey, bindInfo };
  return {
    request,
    post: () => poster.postSend({ opcode: WrOpcode.BIND_MW, wrId: BigInt(wrId), sendFlags, bindMw }),
  };
}
