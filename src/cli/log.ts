import { type Logger, pino } from 'pino'
import type { LogLevel } from '#src/config.ts'
import { harmless } from './output.ts'

/** Opens a logger on stderr: lines of JSON, or plain lines if stderr is a terminal. */
export function openLog(level: LogLevel): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return process.stderr.isTTY
    ? pino(options, { write: writePlain })
    : pino(options, { write: line => process.stderr.write(line) })
}

type LogLine = { level: number; time: string; msg?: string; err?: { message?: string } } & Record<
  string,
  unknown
>

function writePlain(json: string): void {
  const { level, time, msg = '', err, ...rest }: LogLine = JSON.parse(json)
  const details = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const parts = [time.slice(11, 19), pino.levels.labels[level], msg, err?.message ?? '', ...details]
  process.stderr.write(`${harmless(parts.filter(Boolean).join(' '))}\n`)
}
