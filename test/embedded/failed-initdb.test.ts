import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ensureCluster } from '#src/embedded/cluster.ts'
import { AS_OURSELVES } from '#src/embedded/run-as.ts'

test('if Postgres cannot be initialised, the last lines that it printed are shown, and nothing is left', async () => {
  const top = await mkdtemp(join(tmpdir(), 'ferry-failed-initdb-'))
  onTestFinished(() => rm(top, { recursive: true }))
  const initdb = join(top, 'initdb')
  await writeFile(initdb, '#!/bin/sh\nseq -f "line %g" 1 15\necho "initdb: error: no space left"\nexit 1\n')
  await chmod(initdb, 0o755)
  const home = join(top, 'data', 'postgres')
  const binaries = { initdb, pgCtl: '', postgres: '', major: 18 }
  const made = ensureCluster({ home, binaries, runAs: AS_OURSELVES, how: 'here' })
  await expect(made).rejects.toMatchObject({
    name: 'PostgresNotRunning',
    message: expect.stringMatching(
      /^Postgres could not be initialised in [\s\S]* Its last lines:\nline 7\n[\s\S]*\ninitdb: error: no space left$/,
    ),
  })
  expect(await readdir(join(top, 'data'))).toEqual([])
})
