import { agentsApi } from '../../../../control/agents/index.ts'
import { budgetApi } from '../../../../control/budgets/index.ts'
import { riskApi } from '../../../../control/risk/index.ts'
import { webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { anomaliesApi } from '../../../../insight/analytics/index.ts'
import { Problem } from '../../../../kernel/contract/problem.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import { readHealth } from '../../health.ts'
import type { ConsolePage, OperationAnswer, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { readRecordNames } from '../../parts/names.ts'
import { renderBox, renderFacts } from '../../parts/table.ts'
import {
  formatDay,
  humanize,
  renderEuros,
  renderStatus,
  renderText,
  renderTime,
  renderUsage,
} from '../../parts/text.ts'
import {
  countWaitingDecisions,
  readWaitingDecisions,
  type WaitingDecisions,
  waitingDecisionEvents,
} from './waiting.ts'

const SHOWN_UNUSUAL = 5

async function anomalies(request: PageRequest): Promise<Html> {
  const { data, others } = await request.ask(anomaliesApi.anomalies, { query: { limit: SHOWN_UNUSUAL } })
  if (data.length === 0) return renderBox('Unusual', html`<p>No unusual spending in the last 30 days.</p>`)
  const lines = data.map(
    ({ sentence, kind, agentId, name, day }) =>
      html`<li>${renderText(sentence, 300)}<span>${agentId === null ? (kind === 'budget_at_this_pace' ? 'All agents' : 'You') : renderRecordLink(request, agentId, renderText(name, 60))}, ${formatDay(day)}</span></li>`,
  )
  return renderBox(
    'Unusual in the last 30 days',
    html`<ul class="lines">${lines}</ul>`,
    html`<p>${others > 0 && `${others} more. `}<a href="${request.to(anomaliesApi.anomaliesTable.path.slice(1))}" download>Download all as CSV</a></p>`,
  )
}

export const homePage: ConsolePage = async request => {
  const parts = await Promise.all([
    request.part({ id: 'waiting', events: waitingDecisionEvents, make: () => waitingBox(request) }),
    request.part({
      id: 'unusual',
      events: ['transaction.*'],
      make: () => anomalies(request).catch(unavailableNote),
    }),
    request.part({
      id: 'spent',
      events: ['intent.approved', 'intent.cancelled', 'transaction.*', 'budget.updated'],
      make: () => budgetBox(request),
    }),
    request.part({
      id: 'stopped',
      events: ['agent.frozen', 'agent.unfrozen', 'agent.deleted', 'risk.*'],
      make: () => frozenAgents(request),
    }),
    request.part({ id: 'webhooks', events: ['webhook.*'], make: () => failingWebhooks(request) }),
    request.part({ id: 'health', events: [], make: () => health(request) }),
  ])
  const [waiting, toKnow, ...others] = parts
  return {
    title: 'Home',
    content: html`<h1>Home</h1>
${waiting}
${toKnow}
<div class="boxes">${others}</div>`,
  }
}

/** Anomalies are computed for each page. If that takes too long, the page still shows what is urgent. */
function unavailableNote(error: unknown): Html {
  if (!(error instanceof Problem) || error.status !== 503) throw error
  return renderBox('Unusual', html`<p>The service is busy. This part updates with the next payment.</p>`)
}

interface Line {
  readonly id: string
  readonly at: string | Date
  readonly content: Html
  readonly about: Html
}

const SHOWN = 8

async function waitingBox(request: PageRequest): Promise<Html> {
  const [waiting] = await Promise.all([readWaitingDecisions(request), readRecordNames(request, 'agents')])
  const count = countWaitingDecisions(waiting)
  if (count === 0) return renderBox('Nothing to approve', html`<p>New requests from agents appear here.</p>`)
  const lines = linesOf(waiting, request)
    .sort((one, other) => Number(new Date(other.at)) - Number(new Date(one.at)))
    .slice(0, SHOWN)
  const all = waiting.hasMore ? `more than ${count}` : String(count)
  return renderBox(
    count === 1 && !waiting.hasMore ? '1 request to approve' : `${all} requests to approve`,
    html`<ul class="lines">${lines.map(({ id, at, content, about }) => html`<li data-key="${id}">${content}<span>${about}, ${renderTime(at)}</span></li>`)}</ul>
<p><a class="button" href="${request.to('console/inbox')}">Review</a></p>`,
  )
}

function linesOf(
  { intents, cardRequests, transfers, proposals }: WaitingDecisions,
  request: PageRequest,
): Line[] {
  return [
    ...intents.map(({ id, createdAt: at, amountEuros, merchant, agentId }) => ({
      id,
      at,
      content: renderRecordLink(
        request,
        id,
        html`<strong>${renderEuros(amountEuros)} to ${renderText(merchant, 60)}</strong>`,
      ),
      about: renderRecordLink(request, agentId),
    })),
    ...cardRequests.map(({ id, createdAt: at, type, agentId }) => ({
      id,
      at,
      content: renderRecordLink(
        request,
        id,
        html`<strong>${type === 'new_card' ? 'New card' : 'Limit change'}</strong>`,
      ),
      about: renderRecordLink(request, agentId),
    })),
    ...transfers.map(({ id, createdAt: at, amountEuros, payeeCheck }) => ({
      id,
      at,
      content: renderRecordLink(
        request,
        id,
        html`<strong>${renderEuros(amountEuros)}: confirm the payee</strong>`,
      ),
      about: html`${humanize(payeeCheck?.result ?? '')}`,
    })),
    ...proposals.map(({ id, createdAt: at, summary, agentId }) => ({
      id,
      at,
      content: renderRecordLink(request, id, html`<strong>${renderText(summary, 80)}</strong>`),
      about: agentId === null ? html`proposed` : renderRecordLink(request, agentId),
    })),
  ]
}

type Use = OperationAnswer<typeof budgetApi.budget>['day']

async function budgetBox(request: PageRequest): Promise<Html> {
  const { dailyLimitEuros, monthlyLimitEuros, day, month } = await request.ask(budgetApi.budget)
  const set = renderOperationForm(request, budgetApi.setBudget, {
    members: ['dailyLimitEuros', 'monthlyLimitEuros'],
    values: { dailyLimitEuros, monthlyLimitEuros },
    labels: { dailyLimitEuros: 'Daily limit in euros', monthlyLimitEuros: 'Monthly limit in euros' },
    submit: 'Set budget',
    done: 'part:spent',
    fold: true,
  })
  if (!day && !month)
    return renderBox('Budget', html`<p>No shared budget. Each agent has its own limits.</p>`, set)
  return renderBox(
    'Budget for all agents',
    renderFacts([
      ['Today', useOf(day, dailyLimitEuros)],
      ['This month', useOf(month, monthlyLimitEuros)],
    ]),
    set,
  )
}

function useOf(use: Use, limit: number | null): Html {
  if (!use) return html`<span class="none">no limit</span>`
  const used = (Math.round(use.spentEuros * 100) + Math.round(use.heldEuros * 100)) / 100
  return html`${renderUsage(used, limit)}<br><small>${renderEuros(use.spentEuros)} spent, ${renderEuros(use.heldEuros)} held</small>`
}

async function frozenAgents(request: PageRequest): Promise<Html> {
  const [frozen, alerts] = await Promise.all([
    request.ask(agentsApi.list, { query: { status: 'frozen', limit: 10 } }),
    request.ask(riskApi.alerts, { query: { status: 'open', limit: 10 } }),
  ])
  if (frozen.data.length === 0 && alerts.data.length === 0)
    return renderBox('Agents', html`<p>No frozen agents.</p>`)
  return renderBox(
    'Frozen agents',
    html`<ul class="lines">${frozen.data.map(({ id, name, frozenReason }) => html`<li data-key="${id}">${renderRecordLink(request, id, renderText(name, 60))}<span>${renderText(frozenReason, 120)}</span></li>`)}</ul>`,
    alerts.data.length > 0 &&
      html`<p><a href="${request.to('console/risk?status=open')}">${alerts.hasMore ? 'More than ' : ''}${alerts.data.length} ${alerts.data.length === 1 ? 'alert is' : 'alerts are'} open</a></p>`,
  )
}

async function failingWebhooks(request: PageRequest): Promise<Html> {
  const { data } = await request.ask(webhooksApi.list, { query: { limit: 100 } })
  const failing = data.filter(
    ({ health: { condition }, status: state, backlog, statusReason }) =>
      condition !== 'well' || backlog !== null || (state === 'disabled' && statusReason !== null),
  )
  if (failing.length === 0)
    return renderBox(
      'Webhooks',
      html`<p>${data.length === 0 ? 'No webhooks yet.' : 'All webhooks are healthy.'}</p>`,
    )
  const lines = failing.map(
    ({ id, url, health: { condition, message }, backlog, status: state, statusReason }) => {
      const isOff = state === 'disabled'
      return html`<li data-key="${id}">${renderRecordLink(request, id, renderText(url, 80))} ${renderStatus(isOff ? state : backlog ? 'paused' : condition)}<span>${renderText(isOff ? statusReason : (backlog?.message ?? message), 200)}</span></li>`
    },
  )
  return renderBox('Failing webhooks', html`<ul class="lines">${lines}</ul>`)
}

async function health(request: PageRequest): Promise<Html> {
  const { checks, version } = await readHealth(request)
  const { temporal, relay, deliveries } = checks
  const behind = (seconds: number | null): HtmlContent =>
    (seconds ?? 0) > 60 ? `${Math.round((seconds ?? 0) / 60)} min behind` : 'up to date'
  return renderBox(
    'Health',
    renderFacts([
      ['Database', 'ok'],
      ['Temporal', temporal === null ? 'not in use' : temporal === 'ok' ? 'ok' : 'unreachable'],
      ['Background processes', behind(relay.oldestSeconds)],
      ['Deliveries', behind(deliveries.oldestSeconds)],
      ['Version', version],
    ]),
  )
}
