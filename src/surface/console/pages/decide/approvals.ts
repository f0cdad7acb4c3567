import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { beneficiariesApi } from '../../../../money/beneficiaries/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import type { Page, PageRequest } from '../../page.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { readNames } from '../../parts/names.ts'
import { box } from '../../parts/table.ts'
import { euros } from '../../parts/text.ts'
import { waitingIntent } from './ask-intent.ts'
import { waitingCardRequest, waitingPayee } from './ask-others.ts'
import { type ChecksNow, checksNow } from './checks-now.ts'
import { decided } from './decided.ts'
import { waitingProposal } from './proposals.ts'
import { countOf, type Intent, readWaiting, waitingEvents } from './waiting.ts'

/** What waits for a person, agent by agent, and what was decided. */
export const approvalsPage: Page = async request => {
  const [waiting, past] = await Promise.all([
    request.part({ id: 'waiting', events: waitingEvents, make: () => allThatWaits(request) }),
    request.part({
      id: 'decided',
      events: ['intent.approved', 'intent.denied', 'card_limit_request.updated', 'payment.updated'],
      make: () => decided(request),
    }),
  ])
  return {
    title: 'Approvals',
    content: html`<h1>Approvals</h1>
<p class="lead">What agents ask for and the rules leave to a person. Approving takes your passkey.</p>
${waiting}
<h2 id="past">Decided</h2>
${past}`,
  }
}

async function allThatWaits(request: PageRequest): Promise<Html> {
  const [waiting] = await Promise.all([readWaiting(request), readNames(request, 'agents')])
  const { intents, cardRequests, transfers, proposals, hasMore } = waiting
  if (countOf(waiting) === 0) return nothingWaits
  const [payees, now] = await Promise.all([
    transfers.length > 0 ? payeeNames(request) : new Map<string, string>(),
    checksNow(intents, request),
  ])
  return html`${mayDecide(request) ? '' : html`<p class="lead">Your role sees what waits, and decides nothing: an approver or an owner does.</p>`}
${[...byAgent(intents)].map(([agentId, some]) => intentsOf(agentId, some, now, request))}
${cardRequests.length > 0 && box('Cards', ...cardRequests.map(one => waitingCardRequest(one, request)))}
${transfers.length > 0 && box('Payees to confirm', ...transfers.map(one => waitingPayee(one, payees, request)))}
${proposals.length > 0 && box('Proposals', ...proposals.map(one => waitingProposal(one, request)))}
${hasMore && html`<p>More wait: they follow once these are decided.</p>`}`
}

/** What the newest beneficiaries are called; others are shown by their ids. */
async function payeeNames({ ask }: PageRequest): Promise<ReadonlyMap<string, string>> {
  const { data } = await ask(beneficiariesApi.list, { query: { limit: 100 } })
  return new Map(data.map(({ id, name }) => [id, name]))
}

const mayDecide = ({ may }: PageRequest): boolean =>
  may(intentsApi.approve) ||
  may(cardRequestsApi.approve) ||
  may(transfersApi.confirmPayee) ||
  may(proposalsApi.apply)

const nothingWaits = html`<div class="empty"><p>Nothing waits for you. An intent waits where the policy of its agent asks for a person.</p><p>${copyable(
  'agentpay intents create --agent-id agent_… --merchant Bookshop --amount-euros 25 --purpose "A paper on caching"',
)}</p></div>`

/** In the order in which the newest of each agent has come. */
const byAgent = (intents: readonly Intent[]): Map<string, Intent[]> =>
  Map.groupBy(intents, ({ agentId }) => agentId)

/** The intents of one agent, which can be approved one after the other. */
function intentsOf(agentId: string, intents: readonly Intent[], now: ChecksNow, request: PageRequest): Html {
  const sum = intents.reduce((cents, { amountEuros }) => cents + Math.round(amountEuros * 100), 0) / 100
  const section = `of-${agentId}`
  const several = intents.length > 1
  return html`<section class="box" id="${section}">
<h2>${recordLink(request, agentId)}${several && html` <small>${intents.length} wait, ${euros(sum)} in all</small>`}</h2>
${several && request.may(intentsApi.approve) && html`<p><button type="button" data-each="#${section} form[data-challenge]">Approve these ${intents.length} one after the other</button></p>`}
${intents.map(intent => waitingIntent(intent, now.get(intent.id), request))}
</section>`
}
