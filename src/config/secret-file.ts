import { channel } from 'node:diagnostics_channel'
import { readFileSync, statSync } from 'node:fs'
import { reasonOf } from '../model/reason.ts'
import { Secret } from '../model/secret.ts'

/** Hears of each file of a secret that was changed to something that cannot be used: a `FileTrouble`. */
export const secretFiles = channel('ferry.secret-files')
export type FileTrouble = { readonly setting: string; readonly why: string }

/**
 * A secret in a file. It is read anew when the file has changed, so that it can be rotated while Ferry runs. A file that
 * cannot be used, because it is empty, half written or gone, keeps the last secret that could.
 */
export class FileSecret extends Secret {
  readonly #path: string
  readonly #setting: string
  readonly #parse: (text: string) => string | null
  #last: string
  #version: string

  /** `parse` returns the secret that the text of the file is, or null if it is none. */
  constructor(path: string, setting: string, first: string, parse: (text: string) => string | null) {
    super(first)
    this.#path = path
    this.#setting = setting
    this.#parse = parse
    this.#last = first
    this.#version = versionOf(path)
  }

  override reveal(): string {
    const version = versionOf(this.#path)
    if (version === this.#version) return this.#last
    this.#version = version
    try {
      const read = this.#parse(readFileSync(this.#path, 'utf8').replace(/\r?\n$/, ''))
      if (read === null) this.#keep('it holds no secret of that kind')
      else this.#last = read
    } catch (error) {
      this.#keep(reasonOf(error))
    }
    return this.#last
  }

  #keep(why: string): void {
    secretFiles.publish({ setting: this.#setting, why } satisfies FileTrouble)
  }
}

/** Differs once a file was changed or replaced, also if a link leads to another one now. */
function versionOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : 'gone'
}
