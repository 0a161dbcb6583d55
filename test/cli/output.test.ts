import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { StatusLine, tableOf } from '#src/cli/output.ts'

const WORDS =
  'the recipient is on the list of those who must not be subscribed; look at --suppress and correct it'

describe('a table', () => {
  test('is whole where it is read by a program, however long its cells are', () => {
    const text = tableOf(['rows', 'reason'], [[1, WORDS.repeat(5)]], null)
    expect(text).toContain(WORDS.repeat(5))
    expect(text.split('\n')).toHaveLength(2)
  })

  test('has the beginning of a cell that is much longer than people read, and how long that is', () => {
    const long = `\u001b\u2028\u202e${'n'.repeat(996)}🚒${'x'.repeat(58_999)}`
    const [, line = ''] = tableOf(['name', 'by'], [[long, 'Ada']], null).split('\n')
    expect(line).toBe(`${'\ufffd'.repeat(3)}${'n'.repeat(996)}… (60,000 characters)  Ada`)
    const wrapped = tableOf(['name', 'by'], [[long, 'Ada']], 80)
    expect(wrapped.length).toBeLessThan(3_000)
    const full = 'y'.repeat(1_000)
    expect(tableOf(['name'], [[full]], null)).toContain(full)
  })

  test('stays within a terminal of 80 columns, and says every word', () => {
    const rows = [
      [12, WORDS, 'R-0123456789abcdef01234567', new Date(0)],
      [3, 'short', null, new Date(0)],
    ]
    const lines = tableOf(['rows', 'reason', 'request_id', 'when'], rows, 80).split('\n')
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(80)
    const said = lines.join(' ')
    for (const word of WORDS.split(' ')) expect(said).toContain(word)
    expect(said).toContain('R-0123456789abcdef01234567')
    expect(said).not.toContain('…')
  })

  test('breaks a word no terminal can hold, and counts wide characters twice', () => {
    const lines = tableOf(['name'], [['警'.repeat(60)], ['x'.repeat(200)]], 80).split('\n')
    expect(lines.filter(line => line.includes('警'))).toEqual(['警'.repeat(40), '警'.repeat(20)])
    expect(lines.filter(line => line.includes('x')).join('')).toBe('x'.repeat(200))
  })

  test('with more columns than fit is left to the terminal', () => {
    const head = Array.from({ length: 30 }, (_, n) => `column${n}`)
    expect(tableOf(head, [head.map(() => 1)], 80).split('\n')).toHaveLength(2)
  })
})

describe('a status line', () => {
  test('leaves the last column free, or the terminal would begin a new line', () => {
    const { isTTY } = process.stderr
    const { columns } = process.stdout
    const written: string[] = []
    const write = vi.spyOn(process.stderr, 'write').mockImplementation(text => written.push(`${text}`) > 0)
    onTestFinished(() => {
      write.mockRestore()
      Object.assign(process.stderr, { isTTY })
      Object.assign(process.stdout, { columns })
    })
    Object.assign(process.stderr, { isTTY: true })
    Object.assign(process.stdout, { columns: 40 })
    const line = new StatusLine()
    line.show('x'.repeat(50))
    line.clear()
    line.clear()
    expect(written).toEqual([`\r\u001b[K${'x'.repeat(39)}`, '\r\u001b[K'])
  })
})
