import { type Logger, pino } from 'pino'
import type { LogLevel } from '#src/config.ts'
import { harmless } from './output.ts'

/** A logger on stderr: lines of JSON for programs, plain lines if a person sits at a terminal. */
export function openLog(level: LogLevel): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return process.stderr.isTTY
    ? pino(options, { write: writePlain })
    : pino(options, pino.destination({ dest: 2, sync: true }))
}

type Line = { level: number; time: string; msg?: string; err?: { message?: string } } & Record<
  string,
  unknown
>

function writePlain(json: string): void {
  const { level, time, msg = '', err, ...rest }: Line = JSON.parse(json)
  const details = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const words = [time.slice(11, 19), pino.levels.labels[level], msg, err?.message ?? '', ...details]
  process.stderr.write(`${harmless(words.filter(Boolean).join(' '))}\n`)
}
