import type { Pool } from 'pg'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { imports } from '#src/imports/schema.ts'
import { pausedAs } from '#src/imports/sending/import-state.ts'
import type { Pause } from '#src/imports/sending/pause.ts'

/** An import is paused for this reason, as sending pauses it. */
export async function putPause(pool: Pool, id: bigint, pause: Partial<Pause>): Promise<void> {
  const whole = { code: null, requestId: null, message: 'Paused.', whatToDo: null, ...pause }
  await drizzleOf(pool).update(imports).set(pausedAs(whole)).where(eq(imports.id, id))
}

/** An import is completed, as sending ends it. */
export async function complete(pool: Pool, id: bigint): Promise<void> {
  const finished_at = sql`clock_timestamp()`
  await drizzleOf(pool).update(imports).set({ status: 'completed', finished_at }).where(eq(imports.id, id))
}
