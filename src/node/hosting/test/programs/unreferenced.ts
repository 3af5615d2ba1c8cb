/**
 * `unreferenced HOST ADDRESS WHAT`: a client and a server in one process that have spoken to each other and do not keep it alive; `referenced`: that of the client does,
 * until the parent says something.
 */
import { once } from 'node:events';
import { Server, Socket } from '../../../../entry/net.js';

const [host, address, what] = process.argv.slice(2);
const open = { host: host === 'inline' ? ('inline' as const) : ('thread' as const) };
const server = new Server().listen({ host: address, port: 0, open });
await once(server, 'listening');
const place = server.address();
if (place === null) throw new Error('it does not listen');
const client = new Socket().connect({ host: place.address, port: place.port, open });
const [atServer] = (await once(server, 'connection')) as [Socket];
client.write('hello');
await once(atServer, 'readable');
server.unref();
atServer.unref();
client.unref();
if (what === 'referenced') {
  client.ref();
  process.once('message', () => {
    process.send?.('was there');
    client.unref();
  });
  // A listener for messages keeps a process alive as well.
  process.channel?.unref();
  process.send?.('ready');
}
