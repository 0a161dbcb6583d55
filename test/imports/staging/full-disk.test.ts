import { spawnSync } from 'node:child_process'
import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { DiskFull } from '#src/imports/staging/disk-space.ts'
import { openStagingHarness } from './staging-harness.ts'

test('a disk that is full to the last byte gets back what a staging wrote, and the next one finds room', async ({
  skip,
}) => {
  await using harness = await openStagingHarness()
  const directory = await smallDisk()
  if (directory === null) {
    return skip('only root can mount a small disk, and only for a Postgres of this machine')
  }
  const space = `small_${process.pid}`
  try {
    await asSuperuser(`create tablespace ${space} location '${directory}'`)
    await asSuperuser(`grant create on tablespace ${space} to public`)
    for (const table of ['import_recipients', 'import_rejects', 'import_left_out']) {
      await harness.query(`alter table ferry.${table} set tablespace ${space}`)
    }
    const content = (rows: number) =>
      `email\n${Array.from({ length: rows }, (_, n) => `p${n}@example.com`).join('\n')}\n`

    const failed = await harness.stage(content(80_000)).catch(error => error)

    expect(failed).toBeInstanceOf(DiskFull)
    expect(failed.message).toMatch(/, and \d+ MB were freed\.$/)
    const [left] = await harness.query<{ bytes: number }>(
      `select pg_table_size('ferry.import_recipients')::int as bytes`,
    )
    expect(left?.bytes).toBeLessThan(1_000_000)
    expect((await harness.stage(content(5_000))).summary.pending).toBe(5_000)
  } finally {
    await harness.query(
      'drop table ferry.import_recipients, ferry.import_rejects, ferry.import_left_out cascade',
    )
    await asSuperuser(`drop tablespace if exists ${space}`)
    spawnSync('umount', [directory])
    await rm(directory, { recursive: true })
  }
})

/** A disk of 8 MB that the server may write to; null where there can be none. */
async function smallDisk(): Promise<string | null> {
  const [server] = await asSuperuser('show data_directory')
  const owner = await stat(server?.data_directory ?? '').catch(() => null)
  if (!owner) return null
  const directory = await mkdtemp(join(tmpdir(), 'ferry-small-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', directory])
  if (mounted.status === 0) {
    await chown(directory, owner.uid, owner.gid)
    return directory
  }
  await rm(directory, { recursive: true })
  return null
}

async function asSuperuser(statement: string): Promise<{ data_directory: string }[]> {
  const client = new Client({ connectionString: inject('database').superuserUrl })
  await client.connect()
  try {
    return (await client.query<{ data_directory: string }>(statement)).rows
  } finally {
    await client.end()
  }
}
