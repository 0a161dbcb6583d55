import { openSandbox } from '#src/sandbox/sandbox.ts'
import type { SandboxReady } from './sandbox-process.ts'

/* Run by `sandbox-process.ts`: opens the sandbox its argument describes, says where, ends with its parent. */

process.on('disconnect', () => process.exit())
const { baseUrl, appKey } = await openSandbox(JSON.parse(process.argv[2] ?? '{}'))
process.send?.({ baseUrl, appKey, timeOrigin: performance.timeOrigin } satisfies SandboxReady)
