import type { ExitCode } from '../exit.ts'

/** What one check found. */
export type Finding = {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly whatToDo?: string
  /** Of a failure, if it is not 1. */
  readonly exit?: ExitCode
}

/** A failure as the error tells it. */
export function failed(check: string): (error: unknown) => Finding {
  return error => {
    const found = error instanceof Error ? error.message : String(error)
    const whatToDo = error instanceof Error && 'whatToDo' in error ? String(error.whatToDo) : undefined
    return { check, status: 'fail', found, ...(whatToDo === undefined ? {} : { whatToDo }) }
  }
}
