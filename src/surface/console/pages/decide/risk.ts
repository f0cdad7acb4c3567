import { riskApi } from '../../../../control/risk/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { facts } from '../../parts/table.ts'
import { spaced, status, text, time, words } from '../../parts/text.ts'

type Alert = ItemOf<typeof riskApi.alerts>
type Signals = Alert['signals']

const answer = { members: ['comment'], done: 'part:list' } as const

export const risk = section({
  kind: 'Alert',
  title: 'Risk',
  lead: 'One alert for each time that an agent was frozen because a spend was too unusual.',
  list: riskApi.alerts,
  columns: [
    'agentId',
    'score',
    { Status: stateOf, Signals: ({ signals }) => signalList(signals), Spend: spendOf },
    'createdAt',
  ],
  events: ['risk.*', 'agent.unfrozen'],
  empty: 'No alerts. No agent was frozen for its risk.',
  call: 'agentpay risk alerts',
  above: thresholds,
  // Acknowledging records that a person has looked; unfreezing lets the agent spend again.
  actions: [
    { ...answer, operation: riskApi.acknowledge, when: ({ status: state }) => state === 'open' },
    {
      ...answer,
      operation: riskApi.unfreeze,
      when: ({ liftedAt }) => liftedAt === null,
      params: ({ agentId }) => ({ id: agentId }),
      tone: 'main',
      confirm: 'Unfreeze the agent? This spend is no longer unusual for it, and it may spend again.',
    },
  ],
})

export const unusualSpends = section({
  kind: 'Unusual spend',
  lead: 'Spends whose score reached the threshold of review, and what followed.',
  list: riskApi.events,
  columns: [
    'agentId',
    'score',
    { Outcome: ({ outcome }) => status(outcome) },
    'amountEuros',
    'merchant',
    { Signals: ({ signals }) => signalList(signals), Spend: spendOf },
    'createdAt',
  ],
  labels: { minScore: 'Score, at least' },
  events: ['risk.*'],
  empty: 'No unusual spends.',
  call: 'agentpay risk events',
})

interface Subject {
  readonly subjectType: string
  readonly subjectId: string
}

function spendOf({ subjectType, subjectId }: Subject, request: PageRequest): Html {
  return recordLink(request, subjectId, words(subjectType))
}

const signalList = (signals: Signals): Html =>
  html`<ul class="reasons">${signals.map(({ points, message }) => html`<li>${text(message, 200)} <small>${points} points</small></li>`)}</ul>`

function stateOf({ status: state, liftedAt, comment }: Alert): Html {
  return html`${spaced(status(state), liftedAt === null ? 'still frozen' : html`unfrozen ${time(liftedAt)}`)}${comment !== null && html`<br><small>${text(comment, 120)}</small>`}`
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
