import { cardRequestsApi } from '../../cards/card-requests/index.ts'
import { agentsApi } from '../../control/agents/index.ts'
import { intentsApi } from '../../control/intents/index.ts'
import { riskApi } from '../../control/risk/index.ts'
import type { Navigation } from './frame.ts'
import type { Section } from './page.ts'
import { agentPage, agentsPage } from './pages/agents.ts'
import { approvalsPage } from './pages/decide/approvals.ts'
import { cardRequestPage, cardRequestsPage } from './pages/decide/card-requests.ts'
import { intentPage, intentsPage } from './pages/decide/intents.ts'
import { riskPage, unusualSpendsPage } from './pages/decide/risk.ts'
import { searchPage } from './pages/decide/search.ts'

const control: Readonly<Record<string, Section>> = {
  agents: {
    title: 'Agents',
    needs: agentsApi.list,
    list: agentsPage,
    record: agentPage,
    table: agentsApi.list,
  },
}

const decide: Readonly<Record<string, Section>> = {
  approvals: { title: 'Approvals', needs: intentsApi.list, list: approvalsPage },
  intents: {
    title: 'Intents',
    needs: intentsApi.list,
    list: intentsPage,
    record: intentPage,
    table: intentsApi.list,
  },
  'card-requests': {
    title: 'Card requests',
    needs: cardRequestsApi.list,
    list: cardRequestsPage,
    record: cardRequestPage,
    table: cardRequestsApi.list,
  },
  risk: { title: 'Risk', needs: riskApi.alerts, list: riskPage, table: riskApi.alerts },
}

/** Pages that others lead to. */
const aside: Readonly<Record<string, Section>> = {
  search: { title: 'Search', list: searchPage },
  'unusual-spends': {
    title: 'Unusual spends',
    needs: riskApi.events,
    list: unusualSpendsPage,
    table: riskApi.events,
  },
}

/** The navigation: its groups, and the sections of each in their order. */
export const navigation: Navigation = [
  ['Decide', decide],
  ['Control', control],
]

/** Every section by its name in addresses; those that nobody navigates to stand only here. */
export const sections: Readonly<Record<string, Section>> = { ...decide, ...aside, ...control }
