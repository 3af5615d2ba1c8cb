import { getAddrInfo, VerbsError } from '../../../entry/index.js';
import { withoutBrackets } from '../../kit/arguments.js';
import { ToolError } from '../../kit/errors.js';

/**
 * The address of a host that was given by name or address. Of a name's addresses an IPv4 one is preferred, since servers
 * that were told no address listen on those.
 *
 * @param numericHost whether names are refused
 */
export async function addressOf(name: string, numericHost = false): Promise<string> {
  const node = withoutBrackets(name);
  try {
    const found = await getAddrInfo(node, undefined, { numericHost });
    const best = found.find(({ family }) => family === 4) ?? found.at(0);
    if (best?.dst !== undefined) return best.dst.host;
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    throw new ToolError(`getaddrinfo failed: ${error.message}`, 1, { cause: error });
  }
  throw new ToolError(`getaddrinfo failed: '${node}' has no address; give an IP address.`);
}
