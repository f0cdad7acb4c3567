import { riskApi } from '../../../../control/risk/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { facts } from '../../parts/table.ts'
import { spaced, status, text, time, words } from '../../parts/text.ts'

type Alert = ItemOf<typeof riskApi.alerts>
type Signals = Alert['signals']

export const riskPage = listPage({
  title: 'Risk',
  lead: 'One alert for each time that an agent was frozen because a spend was too unusual.',
  operation: riskApi.alerts,
  filters: ['status', 'agentId'],
  names: ['agents'],
  events: ['risk.*', 'agent.unfrozen'],
  empty: { words: 'There is no alert: no agent was frozen for its risk.', command: 'agentpay risk alerts' },
  above: thresholds,
  columns: {
    Agent: 'agentId',
    Score: { figure: 'score' },
    State: alert => stateOf(alert),
    Signals: ({ signals }) => signalList(signals),
    Spend: ({ subjectType, subjectId }, request) => recordLink(request, subjectId, words(subjectType)),
    When: 'createdAt',
    'What to do': (alert, request) => actions(alert, request),
  },
})

export const unusualSpendsPage = listPage({
  title: 'Unusual spends',
  lead: 'Spends whose score reached the threshold of review, and what followed.',
  operation: riskApi.events,
  filters: ['agentId', 'minScore', 'from', 'to'],
  labels: { minScore: 'Score, at least' },
  names: ['agents'],
  events: ['risk.*'],
  empty: { words: 'No spend was unusual.', command: 'agentpay risk events' },
  columns: {
    Agent: 'agentId',
    Score: { figure: 'score' },
    Outcome: ({ outcome }) => status(outcome),
    Amount: 'amountEuros',
    To: 'merchant',
    Signals: ({ signals }) => signalList(signals),
    Spend: ({ subjectType, subjectId }, request) => recordLink(request, subjectId, words(subjectType)),
    When: 'createdAt',
  },
})

const signalList = (signals: Signals): Html =>
  html`<ul class="reasons">${signals.map(({ points, message }) => html`<li>${text(message, 200)} <small>${points} points</small></li>`)}</ul>`

const stateOf = ({ status: state, liftedAt, comment }: Alert): Html =>
  html`${spaced(status(state), liftedAt === null ? 'still frozen' : html`unfrozen ${time(liftedAt)}`)}${comment !== null && html`<br><small>${text(comment, 120)}</small>`}`

/** Acknowledging notes that somebody has looked; unfreezing lets the agent spend again. */
function actions({ id, agentId, status: state, liftedAt }: Alert, request: PageRequest): Html {
  const options = { members: ['comment'], done: 'part:list', fold: true } as const
  return html`${state === 'open' && operationForm(request, riskApi.acknowledge, { ...options, params: { id }, submit: 'Acknowledge' })}
${liftedAt === null && operationForm(request, riskApi.unfreeze, { ...options, params: { id: agentId }, submit: 'Unfreeze', tone: 'main', confirm: 'Unfreeze the agent? This spend is no longer unusual for it, and it may spend again.' })}`
}

const FIELDS = [
  ['enabled', 'Score spends at all'],
  ['thresholds.review', 'Ask a person from this score on'],
  ['thresholds.deny', 'Refuse from this score on'],
  ['thresholds.freeze', 'Freeze the agent from this score on'],
  ['weights.velocity', 'Points for too many spends'],
  ['weights.amountOutlier', 'Points for an unusual amount'],
  ['weights.impossibleTravel', 'Points for impossible travel'],
  ['weights.newMerchant', 'Points for a new merchant'],
  ['weights.oddHour', 'Points for an odd hour'],
  ['velocityWindowMinutes', 'Minutes in which spends are counted'],
  ['velocityCount', 'How many spends in these are usual'],
] as const

/** The thresholds as they are, and the form that sets all of them. */
async function thresholds(request: PageRequest): Promise<Html> {
  const config = await request.ask(riskApi.config)
  const { enabled, thresholds: from, weights } = config
  const values = {
    ...config,
    ...Object.fromEntries(Object.entries(from ?? {}).map(([name, value]) => [`thresholds.${name}`, value])),
    ...Object.fromEntries(Object.entries(weights ?? {}).map(([name, value]) => [`weights.${name}`, value])),
  }
  return html`<div class="aside">
${
  enabled === false
    ? html`<p>Spends are not scored.</p>`
    : facts([
        ['A person is asked', html`from ${from?.review ?? ''} points`],
        ['Refused', html`from ${from?.deny ?? ''} points`],
        ['The agent is frozen', html`from ${from?.freeze ?? ''} points`],
      ])
}
<p><a href="${request.to('console/unusual-spends')}">Unusual spends</a></p>
${operationForm(request, riskApi.configure, {
  members: FIELDS.map(([name]) => name),
  labels: Object.fromEntries(FIELDS),
  values,
  submit: 'Set the thresholds',
  success: 'Set. The next spend is scored by it.',
  fold: true,
})}
</div>`
}
