import { expect, test } from 'vitest'
import { ask } from '#src/cli/import/ask.ts'

test('a question ends with what it is asked for', async () => {
  const stopped = new AbortController()
  const asked = ask('Send 3 rows?', stopped.signal)
  stopped.abort(new Error('interrupted'))
  await expect(asked).rejects.toThrow('aborted')
})
