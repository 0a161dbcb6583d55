import { number } from '#src/model/counted.ts'
import { type OfReason, RISKS, type RiskReason } from '#src/reports/mcp-risks.ts'
import { type Html, html } from '../html.ts'
import { href } from '../page.ts'
import { listPage } from '../parts/list-page.ts'
import { serverLink, severityBadge, teamLink, toolName } from '../parts/mcp.ts'
import { table } from '../parts/table.ts'
import { mcpTabs } from '../parts/tabs.ts'
import { foreign } from '../parts/values.ts'
import { visible } from '../parts/visible.ts'

const PATH = '/mcp/risks'

/** What each reason means for people. */
const MEANINGS: Readonly<Record<RiskReason, string>> = {
  'invisible characters':
    'A name or a description has invisible characters. They can hide instructions for a model from people.',
  'no https': 'Traffic to and from the server can be read and changed on the way.',
  'tool deletes': 'Judging by its name, a tool deletes something.',
  'tool writes': 'Judging by its name, a tool changes something.',
  'tool count differs':
    'The platform counts more or fewer tools than it lists: what the others do is not known here.',
  'shared credentials': 'All users of the server act with the same credentials.',
  'name used twice': 'Servers of one account have the same name, so one can be mistaken for another.',
  'tool name used twice': 'A server has two tools of the same name: a model may take the wrong one.',
  'disabled but listed': 'The server is disabled. It may no longer be needed.',
}

export const mcpRisks = listPage({
  path: PATH,
  section: 'mcp',
  title: 'MCP: risks',
  list: () => RISKS,
  beside: (_, { reasons, filter }) => ({
    above: html`${mcpTabs(PATH)}
<h2>Reasons</h2>
${reasonTable(reasons, filter)}
<h2 id="servers">Servers</h2>`,
    columns: [
      { head: 'Severity', cell: ({ severity }) => severityBadge(severity) },
      { head: 'Server', cell: ({ account, id, server }) => serverLink(account, id, server) },
      'account',
      { head: 'Team', cell: ({ account, team }) => teamLink(account, team) },
      'reason',
      { head: 'Tool', cell: ({ tool }) => (tool === null ? foreign(null) : toolName(tool)) },
      { head: 'Found', cell: ({ detail }) => visible(detail) },
    ],
    empty: html`${RISKS.none} Ferry checked the <a href="/servers">servers that it knows</a>.`,
  }),
})

function reasonTable(
  reasons: readonly OfReason[],
  { account, reason: asked }: { readonly account?: string | undefined; readonly reason?: string | undefined },
): Html {
  return table(
    'Findings by reason, the gravest first',
    [
      { head: 'Severity', cell: ({ severity }) => severityBadge(severity) },
      {
        head: 'Reason',
        cell: ({ reason }) =>
          html`<a href="${href(PATH, { account, reason })}#servers"${reason === asked ? html` aria-current="true"` : null}>${reason}</a>`,
      },
      { head: 'Found', isNumber: true, cell: ({ risks }) => number(risks) },
      { head: 'Meaning', cell: ({ reason }) => html`<span>${MEANINGS[reason]}</span>` },
    ],
    reasons,
    html`No findings on current servers.`,
  )
}
