import { once } from 'node:events';
import { connect, createServer, type Socket } from '../../../src/entry/net.js';
import { Inbox, type Messenger, type Talker } from './messenger.js';

/** A stream, as TCP: whoever receives is given what comes, in pieces as it comes. */
function talkerOf(socket: Socket): Talker {
  const inbox = new Inbox();
  socket.on('data', ({ length }: Buffer) => inbox.came(length));
  socket.on('error', () => socket.destroy());
  return {
    send: (message) =>
      new Promise<void>((resolve, reject) => socket.write(message, (error) => (error ? reject(error) : resolve()))),
    receive: () => inbox.next(),
  };
}

export const rsocket: Messenger = {
  serve: async (host, onTalker) => {
    const server = createServer((socket) => onTalker(talkerOf(socket)));
    server.listen({ port: 0, host });
    await once(server, 'listening');
    const at = server.address();
    if (at === null) throw new Error('the server has no port');
    return at.port;
  },
  connect: async (host, port, localAddress) => {
    const socket = connect({ host, port, localAddress });
    await once(socket, 'connect');
    return talkerOf(socket);
  },
};
