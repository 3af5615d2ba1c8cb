import { isIPv6 } from 'node:net';

/** A host as the user gave it; an IPv6 address may stand in brackets, as tools print it before a port: `[::1]`. */
export function withoutBrackets(host: string): string {
  const inner = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : '';
  return isIPv6(inner) ? inner : host;
}
