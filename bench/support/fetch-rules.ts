import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Pool } from 'undici'
import { OPERATIONS } from '#src/platform/operations.ts'
import type { Lab } from './lab.ts'
import type { SandboxProcess } from './sandbox-process.ts'

const unpack = promisify(gunzip)

/** zlib's default of 16 KiB would cost thousands of round trips to its thread. */
const CHUNK_BYTES = 1 << 20

/** The body of a list of all alert rules; nothing is done with it. */
export type RulesFetcher = {
  /** Gzipped, as Ferry gets it. */
  fetchPacked(): Promise<Buffer>
  fetch(): Promise<Buffer>
}

export function rulesFetcher(lab: Lab, { baseUrl, appKey }: SandboxProcess): RulesFetcher {
  const pool = new Pool(baseUrl, { headersTimeout: 0, bodyTimeout: 0 })
  lab.defer(() => pool.destroy())
  const path = `${OPERATIONS['list-alert-rules'].path}?app_key=${appKey}`
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  async function fetchPacked(): Promise<Buffer> {
    const { body } = await pool.request({ path, method: 'POST', headers, body: '{"folder_id":0}' })
    return Buffer.from(await body.arrayBuffer())
  }
  return {
    fetchPacked,
    fetch: async () => unpack(await fetchPacked(), { chunkSize: CHUNK_BYTES }),
  }
}

/** The least that anybody can do who wants to know what a listing says. */
export async function fetchAndParse(rules: RulesFetcher): Promise<unknown[]> {
  return JSON.parse((await rules.fetch()).toString('utf8')).data
}
