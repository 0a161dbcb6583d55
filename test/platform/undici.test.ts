import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('what sends requests loads only the parts of undici it needs: all of it costs a worker 12 MB', () => {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({ load(url, context, next) {
      if (/undici.(index.js|lib.(web|mock|cache|interceptor))/.test(url)) process.stderr.write(url + ' ')
      return next(url, context)
    } })
    await import('#src/ferry.ts')
    await import('#src/worker/worker.ts')`
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script])
  expect({ stderr: `${stderr}`, status }).toEqual({ stderr: '', status: 0 })
})
