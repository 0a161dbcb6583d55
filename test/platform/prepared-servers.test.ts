import { expect, test } from 'vitest'
import { openMcpList, readServers } from '#test/support/mcp-list.ts'

test('a server that cannot be written fails its listing, and not the process, while the next pass is waited for', async () => {
  const list = openMcpList(['s1'])
  const written = Promise.withResolvers<void>()
  const columns = () => {
    // Node looks for rejections that nobody has handled before it runs this.
    setTimeout(written.resolve)
    throw new Error('out of range')
  }
  const listMcpPage: typeof list.listMcpPage = async (asked, call) => {
    if (asked.page === 1 && list.asked.length > 0) await written.promise
    const answer = await list.listMcpPage(asked, call)
    if (!answer.ok) return answer
    const servers = answer.data.servers.map(row =>
      row.kind === 'good' ? { ...row, written: { ...row.written, columns } } : row,
    )
    return { ...answer, data: { ...answer.data, servers } }
  }
  const context = { runId: null, signal: new AbortController().signal }
  const ask = { limit: 2, includeAccount: true }
  await expect(readServers({ listMcpPage }, ask, () => false, context)).rejects.toThrow('out of range')
})
