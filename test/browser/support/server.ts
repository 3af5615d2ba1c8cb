import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { normalize } from 'node:path';
import { ROOT } from './bundle.js';

const PACKAGE = '/node_modules/verbena/';

const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', json: 'application/json' };

const ICON = '/favicon.ico';

/** Serves what it is given, by path, and the package where npm installs it. */
export class PageServer implements AsyncDisposable {
  readonly #server: Server;

  private constructor(pages: Readonly<Record<string, string>>) {
    const contentOf = (path: string): string | Buffer => {
      if (Object.hasOwn(pages, path)) return pages[path];
      if (path === ICON) return '';
      if (!path.startsWith(PACKAGE)) throw new Error(`there is no ${path}`);
      return readFileSync(ROOT + normalize(path.slice(PACKAGE.length)));
    };
    this.#server = createServer(({ url = '/' }, response) => {
      try {
        const content = contentOf(url);
        response.setHeader('content-type', TYPES[/\.(\w+)$/.exec(url)?.[1] ?? 'html'] ?? 'text/plain');
        response.end(content);
      } catch {
        response.writeHead(404).end();
      }
    });
  }

  static async start(pages: Readonly<Record<string, string>>): Promise<PageServer> {
    const server = new PageServer(pages);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  url(path: string): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('a server has an address while it listens');
    return `http://127.0.0.1:${String(address.port)}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
