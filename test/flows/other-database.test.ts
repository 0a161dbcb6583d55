import { expect, test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { resumeImport } from '#src/imports/control/decide.ts'
import { DATABASE_CHANGED } from '#src/imports/states.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type Chaos, go, kill, openChaos, report } from '#test/support/import-chaos.ts'
import {
  acceptsWrites,
  openAddress,
  openReplicatedPostgres,
  type PostgresServer,
} from '#test/support/replicated-postgres.ts'
import { waitFor } from '#test/support/wait-for.ts'

const ROWS = 400

/** Slow enough that an import is under way for as long as the test needs. */
const WINDOWS = [{ most: 3, ms: 500 }]

/** How the workers come to another database: a step before some calls are lost, and one after them. */
const WAYS: Readonly<
  Record<
    string,
    (primary: PostgresServer) => Promise<{ forget(): Promise<unknown>; next(): Promise<PostgresServer> }>
  >
> = {
  async 'a standby that lagged was promoted'(primary) {
    const standby = await (await primary.copy()).follow(primary)
    return {
      forget: () =>
        standby
          .query(`alter system set primary_conninfo = ''`)
          .then(() => standby.query('select pg_reload_conf()')),
      async next() {
        await standby.query('select pg_promote()')
        return standby
      },
    }
  },
  async 'a base backup was restored'(primary) {
    const backup = await primary.copy()
    return { forget: async () => {}, next: () => backup.restore() }
  },
}

test.each(Object.entries(WAYS))(
  '%s: imports are held, and nobody is sent twice before a person accepts it',
  async (_, way) => {
    await using opened = new AsyncDisposableStack()
    const primary = await openReplicatedPostgres(opened)
    await primary.query('create database ferry')
    const address = await openAddress(opened, primary)
    await migrate(address.url)
    const chaos = opened.use(await openChaos(address.url, { windows: WINDOWS }))
    const id = await chaos.stage({ rows: ROWS })
    const worker = await chaos.startWorker()
    go(worker)
    await callsMore(chaos, 3)
    const { forget, next } = await way(primary)
    await callsMore(chaos, 3)
    await forget()
    const since = new Date()
    await callsMore(chaos, 6)

    await primary.crash()
    const other = await next()
    await acceptsWrites(other)
    address.leadTo(other)
    const held = await waitFor(
      async () => {
        const { rows } = await chaos.pool.query(
          'select status, pause_code, pause_message, sent from ferry.imports where id = $1',
          [id],
        )
        return rows[0]?.status === 'paused' ? rows[0] : undefined
      },
      { what: 'the import to be held' },
    )
    expect(held).toMatchObject({ pause_code: DATABASE_CHANGED })
    expect(held.pause_message).toContain('its server was promoted or restored')
    const [change] = (
      await chaos.pool.query('select cause, missing_since, held_imports from ferry.database_changes')
    ).rows
    expect(change).toMatchObject({ cause: 'timeline', held_imports: 1 })
    expect(change.missing_since.getTime()).toBeLessThan(since.getTime() + 1_500)

    const delivered = deliveredOf(chaos, id)
    report({ delivered: delivered.people, recorded: held.sent, lost: delivered.people - held.sent })
    expect(delivered.people).toBeGreaterThan(held.sent)
    expect(delivered.twice).toBe(0)

    await resumeImport(chaos.pool, id, ADA)
    await chaos.allEnded()
    const acts = await chaos.pool.query(`select actor from ferry.audit where action = 'resume'`)
    expect(acts.rows).toEqual([{ actor: ADA.actor }])
    const after = deliveredOf(chaos, id)
    report({ people: after.people, twice: after.twice })
    expect(after.people).toBe(ROWS)
    expect(after.twice).toBeGreaterThan(0)
    await kill(worker)
  },
)

function deliveredOf({ sandbox }: Chaos, _id: bigint) {
  const list = sandbox.state.subscribers.list(7_000_000_000_000n, 'email')
  return { people: list.length, twice: list.filter(({ deliveries }) => deliveries > 1).length }
}

async function callsMore({ sandbox }: Chaos, calls: number): Promise<void> {
  const from = sandbox.state.received.length
  await waitFor(() => sandbox.state.received.length >= from + calls, {
    what: `${calls} calls more`,
  })
}
