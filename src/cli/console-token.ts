import { randomBytes } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Secret } from '#src/model/secret.ts'

const TOKEN = /^[\w-]{32}\n?$/
const OTHERS_MAY_READ = 0o077

export function consoleTokenFile(dataDir: string): string {
  return join(dataDir, 'console-token')
}

/**
 * Returns the token of the console that this data directory keeps, and creates one if it is missing. Only this user can read
 * the file; one that others could read, or that holds something else, is replaced. Throws `DataDirUnusable`.
 */
export async function ensureConsoleToken(dataDir: string): Promise<Secret> {
  const { makeDataDir } = await import('#src/embedded/placement.ts')
  const file = consoleTokenFile(await makeDataDir(dataDir))
  const kept = await readToken(file)
  if (kept) return kept
  const made = `${file}.${randomBytes(6).toString('hex')}`
  await writeFile(made, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // Of several processes that start at the same time, one makes it.
    await link(made, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (!(await readToken(file))) await rename(made, file)
  } finally {
    await rm(made, { force: true })
  }
  const token = await readToken(file)
  if (!token) throw new Error(`${file} was changed while Ferry started`)
  return token
}

async function readToken(file: string): Promise<Secret | null> {
  const { mode } = await stat(file).catch(() => ({ mode: OTHERS_MAY_READ }))
  // Windows has no such modes.
  if ((mode & OTHERS_MAY_READ) !== 0 && process.platform !== 'win32') return null
  const text = await readFile(file, 'utf8').catch(() => '')
  return TOKEN.test(text) ? new Secret(text.trim()) : null
}
