import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Inbox, type Messenger, type Talker } from './messenger.js';

/** TCP has no messages: whoever receives is given what comes, in pieces as it comes. */
function talkerOf(socket: Socket): Talker {
  const inbox = new Inbox();
  socket.setNoDelay(true);
  socket.on('data', ({ length }) => inbox.came(length));
  socket.on('error', () => socket.destroy());
  return {
    send: (message) =>
      new Promise<void>((resolve, reject) => socket.write(message, (error) => (error ? reject(error) : resolve()))),
    receive: () => inbox.next(),
  };
}

export const net: Messenger = {
  serve: async (address, onTalker) => {
    const server = createServer((socket) => onTalker(talkerOf(socket)));
    server.listen({ port: 0, host: address, backlog: 16_384 });
    await once(server, 'listening');
    const at = server.address();
    if (at === null || typeof at === 'string') throw new Error('the server has no port');
    return at.port;
  },
  connect: async (address, port) => {
    const socket = connect(port, address);
    await once(socket, 'connect');
    return talkerOf(socket);
  },
};
