import type { EventData } from '#src/model/event.ts'

/** What the platform writes as it likes: codes of errors and ids. */
const OF_PLATFORM: readonly string[] = ['code', 'requestId', 'serverIds']

/** A code or an id. Whatever has a space or a line end may be a sentence, and whatever is longer may be anything. */
const IS_PLAIN = /^[\w.:/+=-]{1,128}$/

/** What is sent of an event: of the platform only what looks like a code or an id. Another code is `OtherCode`. */
export function plainData(data: EventData): EventData {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      OF_PLATFORM.includes(name) ? plain(name, value) : value,
    ]),
  )
}

function plain(name: string, value: EventData[string]): EventData[string] {
  if (typeof value === 'object') return value?.filter(id => IS_PLAIN.test(id)) ?? null
  if (IS_PLAIN.test(`${value}`)) return value
  return name === 'code' ? 'OtherCode' : null
}
