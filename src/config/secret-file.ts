import { channel } from 'node:diagnostics_channel'
import { readFileSync, statSync } from 'node:fs'
import { reasonOf } from '../model/reason.ts'
import { Secret } from '../model/secret.ts'

/** Hears of each file of a secret that was changed to something that cannot be used: a `FileTrouble`. */
export const secretFiles = channel('ferry.secret-files')
export type FileTrouble = { readonly setting: string; readonly why: string }

/**
 * A secret in a file. The file is read anew whenever the secret is used, so that it can be rotated while Ferry runs. A file that
 * cannot be used, because it is empty, half written or gone, keeps the last secret that could.
 */
export class FileSecret extends Secret {
  readonly #path: string
  readonly #setting: string
  readonly #parse: (text: string) => string | null
  #last: string
  #trouble: string | null = null

  /** `parse` returns the secret that the text of the file is, or null if it is none. */
  constructor(path: string, setting: string, first: string, parse: (text: string) => string | null) {
    super(first)
    this.#path = path
    this.#setting = setting
    this.#parse = parse
    this.#last = first
  }

  override reveal(): string {
    const trouble = this.#readAnew()
    if (trouble !== null && trouble !== this.#trouble)
      secretFiles.publish({ setting: this.#setting, why: trouble } satisfies FileTrouble)
    this.#trouble = trouble
    return this.#last
  }

  /** Returns why the file cannot be used; null if it can. */
  #readAnew(): string | null {
    try {
      // A pipe gives what it holds once, and to wait for more would stop the process.
      if (!statSync(this.#path).isFile()) return null
      const text = readFileSync(this.#path, 'utf8').replace(/\r?\n$/, '')
      const read = this.#parse(text)
      if (read === null) return text === '' ? 'it is empty' : 'it holds no secret of that kind'
      this.#last = read
      return null
    } catch (error) {
      return reasonOf(error)
    }
  }
}
