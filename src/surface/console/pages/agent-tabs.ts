import { type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import type { RecordTab } from '../parts/list.ts'
import { delegationsSection } from './account/delegations.ts'
import { agentTokensSection } from './account/keys.ts'
import { mandatesSection } from './account/mandates.ts'
import { runsSection } from './account/runs.ts'
import { renderAgentBudgets, renderAgentLimits } from './agent-budgets.ts'
import { intentsSection } from './decide/intents.ts'
import { cardCreation, cardsSection } from './money/cards.ts'
import { transactionsSection } from './money/transactions.ts'

const MOST_LISTED = 20

interface Agent {
  readonly id: string
  readonly status: string
}

/** The newest records of the agent, and where the others are. */
const newestOf = (
  section: { related: typeof cardsSection.related },
  list: string,
  title: string,
  { id }: Agent,
  request: PageRequest,
): Promise<Html> =>
  section.related(
    {
      title,
      query: { agentId: id },
      limit: MOST_LISTED,
      empty: `No ${title.toLowerCase()} yet.`,
      section: list,
    },
    request,
  )

export const agentTabs: readonly RecordTab<Agent>[] = [
  {
    name: 'activity',
    label: 'Activity',
    async content(agent, request) {
      const [payments, intents] = await Promise.all([
        newestOf(transactionsSection, 'transactions', 'Payments', agent, request),
        newestOf(intentsSection, 'intents', 'Intents', agent, request),
      ])
      return html`${payments}${intents}`
    },
  },
  {
    name: 'limits',
    label: 'Limits',
    events: ['budget.*', 'run.*', 'delegation.*', 'mandate.*', 'card.*', 'token.*'],
    async content({ id }, request) {
      const [limits, budgets] = await Promise.all([
        renderAgentLimits(id, request),
        renderAgentBudgets(id, request),
      ])
      if (limits.text === '' && budgets.text === '')
        return html`<p class="empty">No limits: every payment needs approval.</p>`
      return html`${limits}${budgets}`
    },
  },
  {
    name: 'cards',
    label: 'Cards',
    events: ['card.*'],
    content: ({ id: agentId, status }, request) =>
      cardsSection.related(
        {
          title: 'Cards',
          query: { agentId },
          limit: MOST_LISTED,
          empty: 'No cards yet. Machine payments (402) need one.',
          section: 'cards',
          ...((status === 'active' || status === 'frozen') && {
            create: {
              ...cardCreation,
              given: { agentId },
              members: cardCreation.members.filter(name => name !== 'agentId'),
            },
          }),
        },
        request,
      ),
  },
  {
    name: 'mandates',
    label: 'Mandates & delegations',
    events: ['mandate.*', 'delegation.*'],
    async content(agent, request) {
      const [mandates, delegations] = await Promise.all([
        newestOf(mandatesSection, 'mandates', 'Mandates', agent, request),
        newestOf(delegationsSection, 'delegations', 'Delegations', agent, request),
      ])
      return html`${mandates}${delegations}`
    },
  },
  {
    name: 'tokens',
    label: 'Tokens',
    events: ['token.*'],
    content: (agent, request) => newestOf(agentTokensSection, 'tokens', 'Tokens', agent, request),
  },
  {
    name: 'runs',
    label: 'Runs',
    events: ['run.*'],
    content: (agent, request) => newestOf(runsSection, 'runs', 'Runs', agent, request),
  },
]
