import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/** The paths of the assets. Each contains a hash of the content, so a browser may keep it for ever. */
export type Assets = { readonly style: string; readonly script: string; readonly icon: string }

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' }

const DIR = new URL('./assets/', import.meta.url)

/** Serves the style sheets of `assets/` as one, the script and the icon. Needs no token: they show nothing. */
export function serveAssets(app: FastifyInstance): Assets {
  const sheets = globSync('*.css', { cwd: DIR.pathname }).sort()
  return {
    style: serve('css', sheets.map(read).join('\n')),
    script: serve('js', read('console.js')),
    icon: serve('svg', read('icon.svg')),
  }

  function serve(kind: keyof typeof TYPES, text: string): string {
    const path = `/assets/${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${kind}`
    app.get(path, (_request, reply) =>
      reply
        .type(TYPES[kind])
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('cross-origin-resource-policy', 'same-origin')
        .send(text),
    )
    return path
  }
}

function read(name: string): string {
  return readFileSync(new URL(name, DIR), 'utf8')
}
