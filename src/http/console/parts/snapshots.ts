import type { SnapshotStatus } from '#src/inventory/states.ts'
import type { Html } from '../html.ts'
import { href } from '../page.ts'
import { badge, type Tone } from './values.ts'

const TONES: Readonly<Record<SnapshotStatus, Tone>> = { succeeded: 'good', partial: 'warn', held: 'warn' }

/** How complete a snapshot is. */
export function snapshotBadge(status: SnapshotStatus): Html {
  return badge(TONES[status], status)
}

/** The page that compares two snapshots, or two moments. */
export function comparePath(from: string, to: string): string {
  return href('/changes/compare', { from, to })
}
