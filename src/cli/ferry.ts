#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Keeps the compiled sources, if this user may write there. A command then starts in a third of the time.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/ferry', import.meta.url)))

// A log line that cannot be written, as on a full disk, must not end the work.
process.stderr.on('error', () => {})
// A reader that stops reading (`ferry runs list | head -1`) must not make the command fail or end its work early. Results
// that are lost for another reason make it fail, once its work is done. The first of them speaks for all.
process.stdout.on('error', () => {})
process.stdout.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return
  process.stderr.write(`ferry: the output cannot be written (${error.code}): some of it is lost.\n`)
  process.once('exit', () => {
    process.exitCode ||= 1
  })
})

const { runProgram } = await import('./program.ts')
await runProgram(process.argv)
