import { riskApi } from '../../../../control/risk/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { joinWithSpaces, renderStatus, renderText, renderTime, valueText } from '../../parts/text.ts'

type Alert = ListItemOf<typeof riskApi.alerts>
type Signals = Alert['signals']

const answer = { members: ['comment'], done: 'part:list' } as const

export const riskSection = consoleSection({
  kind: 'Alert',
  title: 'Risk alerts',
  lead: 'Alerts for agents that were frozen because of an unusual payment.',
  list: riskApi.alerts,
  columns: [
    'agentId',
    'score',
    { Status: stateOf, Signals: ({ signals }) => signalList(signals), Payment: spendOf },
    'createdAt',
  ],
  events: ['risk.*', 'agent.unfrozen'],
  empty: 'No alerts. No agents were frozen because of risk.',
  call: 'agentpay risk alerts',
  above: thresholds,
  buttons: thresholdsForm,
  // An acknowledgement records that a person has looked; unfreezing lets the agent spend again.
  actions: [
    { ...answer, operation: riskApi.acknowledge, when: ({ status: state }) => state === 'open' },
    {
      ...answer,
      operation: riskApi.unfreeze,
      when: ({ liftedAt }) => liftedAt === null,
      params: ({ agentId }) => ({ id: agentId }),
      tone: 'main',
      confirm: 'Unfreeze the agent? It can spend again, and this payment no longer counts as unusual.',
    },
  ],
})

export const unusualSpendsSection = consoleSection({
  kind: 'Unusual payment',
  lead: 'Payments with a risk score above the review threshold, and their outcome.',
  list: riskApi.events,
  columns: [
    'agentId',
    'score',
    { Outcome: ({ outcome }) => renderStatus(outcome) },
    'amountEuros',
    'merchant',
    { Signals: ({ signals }) => signalList(signals), Payment: spendOf },
    'createdAt',
  ],
  labels: { minScore: 'Minimum score' },
  events: ['risk.*'],
  empty: 'No unusual payments.',
  call: 'agentpay risk events',
})

interface Subject {
  readonly subjectType: string
  readonly subjectId: string
}

function spendOf({ subjectType, subjectId }: Subject, request: PageRequest): Html {
  return renderRecordLink(request, subjectId, valueText(subjectType))
}

const signalList = (signals: Signals): Html =>
  html`<ul class="reasons">${signals.map(({ points, message }) => html`<li>${renderText(message, 200)} <small>${points} points</small></li>`)}</ul>`

function stateOf({ status: state, liftedAt, comment }: Alert): Html {
  return html`${joinWithSpaces(renderStatus(state), liftedAt === null ? 'still frozen' : html`unfrozen ${renderTime(liftedAt)}`)}${comment !== null && html`<br><small>${renderText(comment, 120)}</small>`}`
}

const FIELDS = [
  ['enabled', 'Score payments'],
  ['thresholds.review', 'Require approval from this score'],
  ['thresholds.deny', 'Deny from this score'],
  ['thresholds.freeze', 'Freeze the agent from this score'],
  ['weights.velocity', 'Points for too many payments'],
  ['weights.amountOutlier', 'Points for an unusual amount'],
  ['weights.impossibleTravel', 'Points for impossible travel'],
  ['weights.newMerchant', 'Points for a new merchant'],
  ['weights.oddHour', 'Points for an unusual hour'],
  ['velocityWindowMinutes', 'Velocity window (minutes)'],
  ['velocityCount', 'Usual number of payments in it'],
] as const

const readConfig = ({ ask }: PageRequest) => ask(riskApi.config)

const configs = new WeakMap<PageRequest, ReturnType<typeof readConfig>>()

/** Read once for the sentence and the form. */
function configOf(request: PageRequest): ReturnType<typeof readConfig> {
  const config = configs.get(request) ?? readConfig(request)
  configs.set(request, config)
  return config
}

async function thresholds(request: PageRequest): Promise<Html> {
  const { enabled, thresholds: from } = await configOf(request)
  const said =
    enabled === false
      ? 'Risk scoring is off.'
      : `Approval is required from ${from?.review} points, payments are denied from ${from?.deny}, and the agent is frozen from ${from?.freeze}.`
  return html`<p class="note">${said} <a href="${request.to('console/unusual-spends')}">Unusual payments</a></p>`
}

async function thresholdsForm(request: PageRequest): Promise<Html> {
  const config = await configOf(request)
  const { thresholds: from, weights } = config
  const values = {
    ...config,
    ...Object.fromEntries(Object.entries(from ?? {}).map(([name, value]) => [`thresholds.${name}`, value])),
    ...Object.fromEntries(Object.entries(weights ?? {}).map(([name, value]) => [`weights.${name}`, value])),
  }
  return renderOperationForm(request, riskApi.configure, {
    members: FIELDS.map(([name]) => name),
    labels: Object.fromEntries(FIELDS),
    values,
    submit: 'Set thresholds',
    success: 'Saved. The thresholds apply from the next payment.',
    inDialog: true,
  })
}
