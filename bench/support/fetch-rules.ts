import { Pool } from 'undici'
import { OPERATIONS } from '#src/platform/operations.ts'
import { readBody } from '#src/platform/read-body.ts'
import type { Lab } from './lab.ts'
import type { SandboxProcess } from './sandbox-process.ts'

/** Fetches the body of a list of all alert rules, gzipped on its way as Ferry has it; nothing else is done with it. */
export function rulesFetcher(lab: Lab, { baseUrl, appKey }: SandboxProcess): () => Promise<Buffer> {
  const pool = new Pool(baseUrl)
  lab.defer(() => pool.destroy())
  const path = `${OPERATIONS['list-alert-rules'].path}?app_key=${appKey}`
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  return async () => readBody(await pool.request({ path, method: 'POST', headers, body: '{"folder_id":0}' }))
}
