import { agentsApi } from '../../../../control/agents/index.ts'
import { budgetApi } from '../../../../control/budgets/index.ts'
import { riskApi } from '../../../../control/risk/index.ts'
import { webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { anomaliesApi } from '../../../../insight/analytics/index.ts'
import { utcDay } from '../../../../values/clock.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import { busyAsUndefined, describeHealth } from '../../health.ts'
import type { ConsolePage, OperationAnswer, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { renderBox } from '../../parts/table.ts'
import {
  countOf,
  formatDay,
  renderEuros,
  renderStatus,
  renderText,
  renderTime,
  renderUsage,
  sumEuros,
} from '../../parts/text.ts'
import { renderFirstSteps } from './first-payment.ts'
import { readBalance, readMonthAndLine, readWallets, renderSpendLine } from './home-money.ts'
import { inboxKeys } from './inbox.ts'
import { type InboxItem, inboxItemsOf, renderDeadline } from './inbox-items.ts'
import {
  countWaitingDecisions,
  readNamesOfWaiting,
  readWaitingDecisions,
  waitingDecisionEvents,
} from './waiting.ts'

const moneyEvents = ['wallet.*', 'funding.*', 'transaction.*', 'transfer.*', 'incoming.*', 'agent.funded']

/** The parts are in the order of a phone. A desktop shows them beside each other. */
export const homePage: ConsolePage = async request => {
  const [first, ...parts] = await Promise.all([
    request.part({
      id: 'first-steps',
      events: ['agent.*', 'policy.*', 'wallet.*', 'key.*', 'intent.*'],
      make: () => renderFirstSteps(request),
    }),
    request.part({ id: 'waiting', events: waitingDecisionEvents, make: () => waitingBox(request) }),
    request.part({ id: 'available', events: moneyEvents, make: () => availableBox(request) }),
    request.part({
      id: 'spent',
      events: ['intent.approved', 'intent.cancelled', 'transaction.*', 'budget.updated'],
      make: () => spentBox(request),
    }),
    request.part({
      id: 'unusual',
      events: ['transaction.*', 'agent.frozen', 'agent.unfrozen', 'agent.deleted', 'risk.*'],
      make: () => unusualBox(request),
    }),
    request.part({ id: 'failing', events: ['webhook.*'], make: () => failingBox(request) }),
  ])
  return {
    title: 'Home',
    content: html`<h1>Home</h1>
${first}
<div class="home">${parts}</div>
${inboxKeys(request)}`,
  }
}

const SHOWN_WALLETS = 4

async function availableBox(request: PageRequest): Promise<Html> {
  const [balance, wallets] = await Promise.all([readBalance(request), readWallets(request)])
  const largest = wallets.data
    .toSorted((one, other) => other.availableEuros - one.availableEuros)
    .slice(0, SHOWN_WALLETS)
  const others = balance.wallets - largest.length
  return html`<section class="box"><h2>Available</h2>
<p class="large">${renderEuros(balance.availableEuros)}</p>
<p class="times">${renderEuros(balance.heldEuros)} held${balance.pendingEuros > 0 && html`, ${renderEuros(balance.pendingEuros)} pending`}</p>
<ul class="amounts">${largest.map(
    ({ id, name, availableEuros }) =>
      html`<li data-key="${id}">${renderRecordLink(request, id, renderText(name, 60))} ${renderEuros(availableEuros)}</li>`,
  )}</ul>
<p><a href="${request.to('console/wallets')}">${others > 0 ? `All ${balance.wallets} wallets` : 'Wallets'}</a> · <a href="${request.to('console/billing')}">Add money</a></p></section>`
}

type Use = OperationAnswer<typeof budgetApi.budget>['day']

async function spentBox(request: PageRequest): Promise<Html> {
  const [spend, budget] = await Promise.all([readMonthAndLine(request), request.ask(budgetApi.budget)])
  const { dailyLimitEuros, monthlyLimitEuros, day, month } = budget
  const set = renderOperationForm(request, budgetApi.setBudget, {
    members: ['dailyLimitEuros', 'monthlyLimitEuros'],
    values: { dailyLimitEuros, monthlyLimitEuros },
    labels: { dailyLimitEuros: 'Daily limit in euros', monthlyLimitEuros: 'Monthly limit in euros' },
    submit: monthlyLimitEuros === null && dailyLimitEuros === null ? 'Set budget' : 'Change budget',
    done: 'part:spent',
    inDialog: true,
  })
  return html`<section class="box"><h2>Spent in ${formatDay(utcDay(request.now).slice(0, 7))}</h2>
${spend ? html`<p class="large">${renderEuros(spend.monthEuros)}</p>` : busyNote}
${!day && !month && html`<p class="times">No shared budget. Each agent has its own limits.</p>`}
${month && useOf('Budget this month', month, monthlyLimitEuros)}${day && useOf('Budget today', day, dailyLimitEuros)}
${spend && renderSpendLine(spend.days)}
<div class="actions">${set}<a href="${request.to('console/costs')}">Spend by day and agent</a></div></section>`
}

function useOf(name: string, use: NonNullable<Use>, limit: number | null): HtmlContent {
  if (limit === null) return false
  const used = sumEuros([use.spentEuros, use.heldEuros])
  return html`<p class="use"><span>${name}</span> ${renderUsage(used, limit)}${use.heldEuros > 0 && html` <small>${renderEuros(use.heldEuros)} of it held</small>`}</p>`
}

const SHOWN = 5

async function waitingBox(request: PageRequest): Promise<Html> {
  const waiting = await readWaitingDecisions(request)
  const count = countWaitingDecisions(waiting)
  if (count === 0)
    return renderBox(
      'Needs you',
      html`<p class="quiet">Nothing waits for you. New requests from agents appear here.</p>`,
    )
  await readNamesOfWaiting(waiting, request)
  const items = inboxItemsOf(waiting, request).slice(0, SHOWN)
  const all = waiting.hasMore ? `${count}+` : String(count)
  return html`<section class="box"><h2>Needs you <span class="count">${all}</span></h2>
<ol class="needs">${items.map(needItem)}</ol>
<p><a href="${request.to('console/inbox')}">${count > SHOWN ? `View all ${all} in the inbox` : 'Open the inbox'}</a></p></section>`
}

const needItem = (item: InboxItem): Html =>
  html`<li data-item data-key="${item.id}" tabindex="-1"><div><strong>${item.title}</strong>
<span class="line">${item.requester}${item.due !== null && html` · ${renderDeadline(item)}`} · ${item.why}</span></div>
${item.decide}</li>`

const busyNote = html`<p>The service is busy. This part updates with the next payment.</p>`

const SHOWN_UNUSUAL = 3

async function unusualBox(request: PageRequest): Promise<Html> {
  const [found, frozen, alerts] = await Promise.all([
    request.ask(anomaliesApi.anomalies, { query: { limit: SHOWN_UNUSUAL } }).catch(busyAsUndefined),
    request.ask(agentsApi.list, { query: { status: 'frozen', limit: SHOWN } }),
    request.ask(riskApi.alerts, { query: { status: 'open', limit: 10 } }),
  ])
  const lines = found?.data.map(
    ({ sentence, kind, agentId, name, day }) =>
      html`<li>${renderText(sentence, 300)}<span>${agentId === null ? (kind === 'budget_at_this_pace' ? 'All agents' : 'You') : renderRecordLink(request, agentId, renderText(name, 60))}, ${formatDay(day)}</span></li>`,
  )
  const stopped = frozen.data.map(
    ({ id, name, frozenReason }) =>
      html`<li data-key="${id}">${renderRecordLink(request, id, renderText(name, 60))} ${renderStatus('frozen')}${frozenReason !== null && html`<span>${renderText(frozenReason, 120)}</span>`}</li>`,
  )
  const isQuiet = lines?.length === 0 && stopped.length === 0
  return renderBox(
    'Unusual',
    found === undefined && busyNote,
    isQuiet && html`<p class="quiet">No unusual spending in the last 30 days.</p>`,
    !isQuiet && html`<ul class="lines">${stopped}${lines}</ul>`,
    alerts.data.length > 0 &&
      html`<p><a href="${request.to('console/risk?status=open')}">${alerts.hasMore ? 'More than ' : ''}${countOf(alerts.data.length, 'alert is', 'alerts are')} open</a></p>`,
    found !== undefined &&
      found.data.length > 0 &&
      html`<p>${found.others > 0 && `${found.others} more. `}<a href="${request.to('console/csv/anomalies')}" download>Download all as CSV</a></p>`,
  )
}

async function failingBox(request: PageRequest): Promise<Html> {
  const [{ data }, health] = await Promise.all([
    request.ask(webhooksApi.list, { query: { limit: 100 } }),
    describeHealth(request),
  ])
  const failing = data.filter(
    ({ health: { condition }, status: state, backlog, statusReason }) =>
      condition !== 'well' || backlog !== null || (state === 'disabled' && statusReason !== null),
  )
  if (failing.length === 0 && health === undefined)
    return renderBox(
      'Failing',
      html`<p class="quiet">${data.length === 0 ? 'Nothing is failing. No webhooks yet.' : 'Nothing is failing. All webhooks are healthy.'}</p>`,
    )
  const lines = failing.map(
    ({ id, url, health: { condition, failingSince }, backlog, status: state, statusReason }) => {
      const isOff = state === 'disabled'
      const why = isOff ? statusReason : backlog?.message
      return html`<li data-key="${id}">${renderRecordLink(request, id, renderText(url, 80))} ${renderStatus(isOff ? state : backlog ? 'paused' : condition)}<span>${why ? renderText(why, 200) : html`since ${renderTime(failingSince)}`}</span></li>`
    },
  )
  return renderBox(
    'Failing',
    html`<ul class="lines">${health !== undefined && html`<li>${health}</li>`}${lines}</ul>`,
  )
}
