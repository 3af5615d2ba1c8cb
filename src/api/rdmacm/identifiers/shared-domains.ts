import type { Context, Pd, Xrcd } from '../../verbs/index.js';

/** The domains that identifiers of a device share when their programs give none, as librdmacm has them. */
interface Shared {
  pd?: Pd;
  xrcd?: Xrcd;
}

const shared = new WeakMap<Context, Shared>();

function sharedOf(context: Context): Shared {
  let domains = shared.get(context);
  if (domains === undefined) {
    domains = {};
    shared.set(context, domains);
  }
  return domains;
}

/** @throws VerbsError as `Context.allocPd` */
export function sharedPd(context: Context): Pd {
  return (sharedOf(context).pd ??= context.allocPd());
}

/** @throws VerbsError as `Context.openXrcd` */
export function sharedXrcd(context: Context): Xrcd {
  return (sharedOf(context).xrcd ??= context.openXrcd());
}
