import { expect, test } from 'vitest'
import { psqlCommand } from '#src/cli/worker.ts'
import { readConfig } from '#src/config.ts'

test.for([
  ['.ferry', `${process.cwd()}/.ferry`],
  ["/it's here", "/it'\\''s here"],
  ["/the 'other' one", "/the '\\''other'\\'' one"],
] as const)(
  'the line for psql works from any directory, and with one of any name: %s',
  ([dataDir, quoted]) => {
    const config = readConfig({ FERRY_DATA_DIR: dataDir })
    const backend = { databaseUrl: 'postgres://ferry_owner:hunter2@127.0.0.1:5544/ferry', redisUrl: null }
    expect(psqlCommand({ config, backend } as Parameters<typeof psqlCommand>[0])).toBe(
      `PGPASSWORD=$(cat '${quoted}/postgres/owner-password') psql -h 127.0.0.1 -p 5544 -U ferry_owner ferry`,
    )
  },
)
