import { randomBytes } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { onServer } from '#test/support/database.ts'
import { openCli } from './open-cli.ts'
import { jsonLines } from './run-ferry.ts'

test('a role that may open fewer connections than a worker takes is a failure, with what to do', async () => {
  await using cli = await openCli()
  const { superuserUrl } = inject('database')
  const role = `ferry_test_${randomBytes(4).toString('hex')}`
  const { username: owner } = new URL(cli.databaseUrl)
  await onServer(superuserUrl, `create role ${role} login password 'p' connection limit 12 in role ${owner}`)
  try {
    const url = Object.assign(new URL(cli.databaseUrl), { username: role, password: 'p' })
    const { stdout } = await cli.ferryRun('doctor --json', { DATABASE_URL: url.href })
    const found = jsonLines({ stdout }).find(({ check }) => check === 'connections')
    expect(found).toMatchObject({
      status: 'fail',
      found: expect.stringMatching(
        /^12 connections allowed, \d+ used by others; .*: not enough for one worker$/,
      ),
      whatToDo: expect.stringMatching(/^Raise max_connections .*REDIS_URL/),
    })
  } finally {
    await onServer(superuserUrl, `drop role ${role}`)
  }
})
