import { intentsApi } from '../../../../control/intents/index.ts'
import { canvasApi } from '../../../canvas/index.ts'
import type { Section } from '../../page.ts'
import { approvalsPage } from './approvals.ts'
import { askPage } from './ask.ts'
import { cardRequestPage, cardRequestsPage } from './card-requests.ts'
import { intentPage, intentsPage } from './intents.ts'
import { proposalPage, proposalsPage } from './proposals.ts'
import { riskPage, unusualSpendsPage } from './risk.ts'
import { searchPage } from './search.ts'

export const decide: Readonly<Record<string, Section>> = {
  approvals: { title: 'Approvals', needs: intentsApi.list, list: approvalsPage },
  ask: { title: 'Ask', needs: canvasApi.list, list: askPage },
  intents: { ...intentsPage, record: intentPage },
  'card-requests': { ...cardRequestsPage, record: cardRequestPage },
  proposals: { ...proposalsPage, record: proposalPage },
  risk: riskPage,
}

/** Pages that others lead to. */
export const decideDetails: Readonly<Record<string, Section>> = {
  search: { title: 'Search', list: searchPage },
  'unusual-spends': unusualSpendsPage,
}
