import { budgetApi } from '../../../../control/budgets/index.ts'
import { eventsApi } from '../../../../delivery/events/index.ts'
import { pushApi, urgentPushEvents } from '../../../../delivery/push/index.ts'
import { customersApi } from '../../../../identity/customers/index.ts'
import { kycApi } from '../../../../identity/kyc/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import { pageScriptTag } from '../../browser/browser.ts'
import type { ConsolePage, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { copyableText } from '../../parts/links.ts'
import { renderBox, renderFacts, renderTable } from '../../parts/table.ts'
import {
  capitalized,
  noneText,
  renderEuros,
  renderStatus,
  renderText,
  renderTime,
  renderUsage,
  sumEuros,
  valueText,
} from '../../parts/text.ts'
import { renderChannelSettings } from './channels.ts'

export const settingsPage: ConsolePage = async request => {
  const [holder, budget, identity, channels, push] = await Promise.all([
    holderBox(request),
    budgetBox(request),
    identityBox(request),
    renderChannelSettings(request),
    pushBox(request),
  ])
  return {
    title: 'Settings',
    content: html`<h1>Settings</h1>
<p class="lead">Account holder, shared budget, and notifications.</p>
<div class="boxes">${holder}${budget}${identity}${channels}</div>
${push}`,
  }
}

const labels = {
  name: 'Name',
  email: 'Email',
  country: 'Country',
  phone: 'Phone',
  'address.line1': 'Street',
  'address.line2': 'Address line 2',
  'address.postalCode': 'Postal code',
  'address.city': 'City',
  'address.country': 'Country of the address',
}

async function holderBox(request: PageRequest): Promise<Html> {
  const holder = await request.ask(customersApi.me)
  const { id, name, email, country, phone, address, plan, type, kycStatus } = holder
  const values = { name, email, country, phone, ...addressValues(address) }
  return renderBox(
    'Holder',
    renderFacts([
      ['Name', renderText(name)],
      ['Type', valueText(type)],
      ['Plan', renderStatus(plan)],
      ['Status', renderStatus(holder.status)],
      ['Identity', renderStatus(kycStatus)],
      ['Email', renderText(email)],
      ['Phone', renderText(phone)],
      ['Country', country],
      [
        'Address',
        address
          ? renderText(
              [address.line1, address.line2, `${address.postalCode} ${address.city}`, address.country]
                .filter(line => line)
                .join(', '),
            )
          : noneText,
      ],
    ]),
    html`<p class="record">${copyableText(id)} <a href="${request.to('customers/me')}">JSON</a> ${copyableText('agentpay customers me')}</p>`,
    renderOperationForm(request, customersApi.updateMe, {
      members: Object.keys(labels),
      values,
      labels,
      submit: 'Change',
      inDialog: true,
    }),
  )
}

const addressValues = (address: Readonly<Record<string, unknown>> | null): Record<string, unknown> =>
  Object.fromEntries(Object.entries(address ?? {}).map(([name, value]) => [`address.${name}`, value]))

/** Without a limit nothing can be left of it. */
const left = (
  name: string,
  use: { readonly remainingEuros: number | null } | null,
): (readonly [string, Html])[] =>
  use === null || use.remainingEuros === null ? [] : [[name, renderEuros(use.remainingEuros)]]

const budgetBox = (request: PageRequest): Promise<Html> =>
  request.part({
    id: 'budget',
    events: ['budget.updated', 'intent.*', 'transaction.*'],
    make: async () => {
      const { day, month, ...limits } = await request.ask(budgetApi.budget)
      const line = (use: typeof day, limit: number | null): Html =>
        use === null
          ? html`<span class="none">no limit</span>`
          : renderUsage(sumEuros([use.heldEuros, use.spentEuros]), limit)
      return renderBox(
        'Budget for all agents',
        renderFacts([
          ['Today', line(day, limits.dailyLimitEuros)],
          ...left('Left today', day),
          ['This month', line(month, limits.monthlyLimitEuros)],
          ...left('Left this month', month),
          ['Updated', renderTime(limits.updatedAt)],
        ]),
        html`<p class="record"><a href="${request.to('budget')}">JSON</a> ${copyableText('agentpay policies budget')}</p>`,
        renderOperationForm(request, budgetApi.setBudget, {
          members: ['dailyLimitEuros', 'monthlyLimitEuros'],
          values: limits,
          labels: {
            dailyLimitEuros: 'Daily limit (empty: no limit)',
            monthlyLimitEuros: 'Monthly limit (empty: no limit)',
          },
          submit: 'Set budget',
          inDialog: true,
        }),
      )
    },
  })

/** What is missing names the call that sends it; here the links below lead there. */
const API_CALL = /: (?:GET|POST|PUT|PATCH) \S+$/

async function identityBox(request: PageRequest): Promise<Html> {
  const { to } = request
  const { customerType, kycStatus, canMakeLiveKeys, missing, rejection } = await request.ask(kycApi.standing)
  return renderBox(
    'Identity and onboarding',
    renderFacts([
      ['Status', renderStatus(kycStatus === 'none' ? 'not started' : kycStatus)],
      ['Live keys', canMakeLiveKeys ? 'Available' : 'Not available yet'],
      [
        'Missing',
        missing.length > 0
          ? html`${missing.map(one => html`${renderText(capitalized(one.replace(API_CALL, '')))}<br>`)}`
          : 'Nothing',
      ],
      ['Rejection reason', renderText(rejection?.reason)],
    ]),
    html`<p><a href="${to('console/identity')}">Identity checks</a>${customerType === 'business' && html` · <a href="${to('console/onboarding')}">Onboarding of the company</a>`}</p>`,
  )
}

/** Event types for push notifications in this browser. Types that need a decision come first. */
async function pushBox(request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(pushApi.list)) return html``
  const { data } = await ask(pushApi.list, { query: { limit: 100 } })
  return html`${may(pushApi.create) && (await pushForm(request))}
${renderBox(
  'Browsers with notifications',
  data.length > 0
    ? renderTable(request, 'Browsers with notifications', data, {
        Browser: ({ label, id }) => (label ? renderText(label) : html`<code>${id}</code>`),
        Events: ({ events }) => renderText(events.join(', '), 300),
        Since: 'createdAt',
        Action: ({ id }) =>
          renderOperationForm(request, pushApi.delete, {
            params: { id },
            submit: 'Turn off',
            tone: 'against',
          }),
      })
    : html`<p>No browsers yet.</p>`,
)}`
}

const PUSH_EVENTS: readonly string[] = [
  ...urgentPushEvents,
  'card_limit_request.updated',
  'transaction.declined',
  'webhook.disabled',
  'session.requested',
]

async function pushForm(request: PageRequest): Promise<Html> {
  const { data } = await request.ask(eventsApi.types)
  const rings = data.filter(({ event, reserved }) => PUSH_EVENTS.includes(event) && !reserved)
  return html`<section class="box" data-push><h2>Notifications in this browser</h2>
<p data-push-state role="status">Notifications need JavaScript.</p>
${pageScriptTag(request, 'push')}
<form data-action="push-on" method="dialog">
${rings.map(({ event, description }) => html`<p class="field check"><input id="ring-${event}" type="checkbox" name="events" value="${event}"${urgentPushEvents.includes(event) && html` checked`}><label for="ring-${event}">${description.replaceAll('`', '')}</label></p>`)}
<p class="field"><label for="ring-label">Browser name</label><input id="ring-label" name="label" maxlength="200" autocomplete="off"></p>
<button type="submit" class="main">Turn on notifications</button>
</form>
<p class="actions apart"><button type="button" data-action="push-test" hidden>Send a test notification</button> <button type="button" data-action="push-off" class="against" hidden>Turn off notifications</button></p>
</section>`
}
