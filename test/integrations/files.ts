import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { SETTINGS } from '#src/config/settings.ts'
import { pathOf } from '#test/docs/pages.ts'

/** The path of a file or directory of integrations/. */
export function integration(path: string): string {
  return pathOf(`integrations/${path}`)
}

export function readIntegration(path: string): string {
  return readFileSync(integration(path), 'utf8')
}

/** Whether a program is on this machine; a test that needs one that is not is skipped, and says so. */
export function hasProgram(program: string, ...words: readonly string[]): boolean {
  return spawnSync(program, words).status === 0
}

/** The documents of YAML, those of several files one after the other. */
export function documentsOf<Document>(...texts: readonly string[]): Document[] {
  return texts.flatMap(text =>
    parseAllDocuments(text, { merge: true }).map(document => {
      if (document.errors[0]) throw document.errors[0]
      return document.toJS()
    }),
  )
}

/** Names that are no setting of Ferry's. */
export function unknownSettings(names: readonly string[]): string[] {
  const known = SETTINGS.map(setting => setting.name)
  return names.filter(name => !known.includes(name))
}
