import { existsSync } from 'node:fs'
import { mkdir, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { reasonOf } from '#src/model/reason.ts'
import { DataDirUnusable } from './errors.ts'

/** Creates the data directory if it does not exist, and returns its real path. Throws `DataDirUnusable`. */
export async function makeDataDir(path: string): Promise<string> {
  try {
    await makeWithParents(path)
    return await realpath(path)
  } catch (cause) {
    throw new DataDirUnusable(`${path} cannot be created: ${reasonOf(cause)}`, { cause })
  }
}

/** Does not use `recursive`: where nothing can be created, as in /proc, Node would try for ever. */
async function makeWithParents(path: string): Promise<void> {
  const parent = dirname(path)
  const failure = await mkdir(path).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  )
  if (failure === undefined || failure.code === 'EEXIST') return
  if (failure.code !== 'ENOENT' || existsSync(parent)) throw failure
  await makeWithParents(parent)
  await makeWithParents(path)
}
