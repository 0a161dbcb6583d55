import { type Field, fieldsOf } from '../file/header.ts'
import { betterstack } from './betterstack.ts'
import { cachet } from './cachet.ts'
import { instatus } from './instatus.ts'
import { platform } from './platform.ts'
import type { Preset } from './preset.ts'
import { statuspage } from './statuspage.ts'

/** The products whose exports Ferry knows, by the name `--from` takes. */
export const PRESETS = { statuspage, instatus, betterstack, cachet, platform } as const satisfies Record<
  string,
  Preset
>
export type PresetName = keyof typeof PRESETS
export const PRESET_NAMES = Object.keys(PRESETS) as readonly PresetName[]

/** Returns what Ferry looks for in the export of a product, with the columns that may hold it. */
export function fieldsOfProduct(product: PresetName): readonly Field[] {
  return fieldsOf(PRESETS[product], {})
}
