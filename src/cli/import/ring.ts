import type { Ferry } from '#src/ferry.ts'

/** Tells the workers that an import is to be worked on. */
export async function ringForImport(_ferry: Ferry, _id: bigint): Promise<void> {}
