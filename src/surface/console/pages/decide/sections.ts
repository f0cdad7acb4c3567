import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { riskApi } from '../../../../control/risk/index.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import type { Section } from '../../page.ts'
import { approvalsPage } from './approvals.ts'
import { cardRequestPage, cardRequestsPage } from './card-requests.ts'
import { intentPage, intentsPage } from './intents.ts'
import { proposalPage, proposalsPage } from './proposals.ts'
import { riskPage, unusualSpendsPage } from './risk.ts'
import { searchPage } from './search.ts'

export const decide: Readonly<Record<string, Section>> = {
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
  proposals: {
    title: 'Proposals',
    needs: proposalsApi.list,
    list: proposalsPage,
    record: proposalPage,
    table: proposalsApi.list,
  },
  risk: { title: 'Risk', needs: riskApi.alerts, list: riskPage, table: riskApi.alerts },
}

/** Pages that others lead to. */
export const decideDetails: Readonly<Record<string, Section>> = {
  search: { title: 'Search', list: searchPage },
  'unusual-spends': {
    title: 'Unusual spends',
    needs: riskApi.events,
    list: unusualSpendsPage,
    table: riskApi.events,
  },
}
