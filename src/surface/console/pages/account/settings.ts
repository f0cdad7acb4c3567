import { budgetApi } from '../../../../control/budgets/index.ts'
import { eventsApi } from '../../../../delivery/events/index.ts'
import { pushApi, urgentEvents } from '../../../../delivery/push/index.ts'
import { customersApi } from '../../../../identity/customers/index.ts'
import { kycApi } from '../../../../identity/kyc/index.ts'
import { clock, minuteInWords } from '../../../../values/clock.ts'
import { type Html, html } from '../../../../web/html.ts'
import { sandboxApi } from '../../../sandbox/index.ts'
import { ownScript } from '../../browser/browser.ts'
import type { Page, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { copyable } from '../../parts/links.ts'
import { box, facts, table } from '../../parts/table.ts'
import { euros, none, status, text, time, usage } from '../../parts/text.ts'

export const settingsPage: Page = async request => {
  const { tenant } = request
  const [holder, budget, identity, push] = await Promise.all([
    holderBox(request),
    budgetBox(request),
    identityBox(request),
    pushBox(request),
  ])
  return {
    title: 'Settings',
    content: html`<h1>Settings</h1>
<p class="lead">Account holder, shared budget, and notifications.</p>
<div class="boxes">${holder}${budget}${identity}${tenant.mode === 'test' && clockBox(request)}</div>
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
  return box(
    'Holder',
    facts([
      ['Name', text(name)],
      ['Type', type],
      ['Plan', status(plan)],
      ['Status', status(holder.status)],
      ['Identity', status(kycStatus)],
      ['Email', text(email)],
      ['Phone', text(phone)],
      ['Country', country],
      [
        'Address',
        address
          ? text(
              [address.line1, address.line2, `${address.postalCode} ${address.city}`, address.country]
                .filter(line => line)
                .join(', '),
            )
          : none,
      ],
    ]),
    html`<p class="record">${copyable(id)} <a href="${request.to('customers/me')}">JSON</a> ${copyable('agentpay customers me')}</p>`,
    operationForm(request, customersApi.updateMe, {
      members: Object.keys(labels),
      values,
      labels,
      submit: 'Change',
      fold: true,
    }),
  )
}

const addressValues = (address: Readonly<Record<string, unknown>> | null): Record<string, unknown> =>
  Object.fromEntries(Object.entries(address ?? {}).map(([name, value]) => [`address.${name}`, value]))

const budgetBox = (request: PageRequest): Promise<Html> =>
  request.part({
    id: 'budget',
    events: ['budget.updated', 'intent.*', 'transaction.*'],
    make: async () => {
      const { day, month, ...limits } = await request.ask(budgetApi.budget)
      const line = (use: typeof day, limit: number | null): Html =>
        use === null ? html`<span class="none">no limit</span>` : usage(use.heldEuros + use.spentEuros, limit)
      return box(
        'Budget for all agents',
        facts([
          ['Today', line(day, limits.dailyLimitEuros)],
          ['Left today', day?.remainingEuros != null ? euros(day.remainingEuros) : none],
          ['This month', line(month, limits.monthlyLimitEuros)],
          ['Left this month', month?.remainingEuros != null ? euros(month.remainingEuros) : none],
          ['Updated', time(limits.updatedAt)],
        ]),
        html`<p class="record"><a href="${request.to('budget')}">JSON</a> ${copyable('agentpay policies budget')}</p>`,
        operationForm(request, budgetApi.setBudget, {
          members: ['dailyLimitEuros', 'monthlyLimitEuros'],
          values: limits,
          labels: {
            dailyLimitEuros: 'Daily limit (empty: no limit)',
            monthlyLimitEuros: 'Monthly limit (empty: no limit)',
          },
          submit: 'Set budget',
          fold: true,
        }),
      )
    },
  })

async function identityBox(request: PageRequest): Promise<Html> {
  const { to } = request
  const { customerType, kycStatus, canMakeLiveKeys, missing, rejection } = await request.ask(kycApi.standing)
  return box(
    'Identity and onboarding',
    facts([
      ['Status', status(kycStatus === 'none' ? 'not started' : kycStatus)],
      ['Live keys', canMakeLiveKeys ? 'available' : 'not available yet'],
      ['Missing', missing.length > 0 ? html`${missing.map(one => html`${text(one)}<br>`)}` : 'nothing'],
      ['Rejection reason', text(rejection?.reason)],
    ]),
    html`<p><a href="${to('console/identity')}">Identity checks</a>${customerType === 'business' && html` · <a href="${to('console/onboarding')}">Onboarding of the company</a>`}</p>`,
  )
}

function clockBox(request: PageRequest): Html {
  const { now } = request
  const params = {}
  const isMoved = now.getTime() - clock.milliseconds() > 1_500
  return box(
    'Test clock',
    facts([
      ['Test time', time(now)],
      ['Real time', time(clock.real())],
    ]),
    html`<p>${isMoved ? `The test clock is ahead: ${minuteInWords(now)}.` : 'The test clock shows real time.'} Everything that falls due on the way happens in order. The clock cannot be moved back.</p>
<p class="record"><a href="${request.to('simulate/clock')}">JSON</a> ${copyable('agentpay sandbox clock')}</p>
<div class="actions">
${(['minutes', 'days'] as const).map(unit => operationForm(request, sandboxApi.advance, { params, members: [unit], labels: { [unit]: `Advance by ${unit}` }, submit: 'Advance', success: 'Test clock advanced.' }))}
</div>`,
  )
}

/** Event types for push notifications in this browser. Types that need a decision come first. */
async function pushBox(request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(pushApi.list)) return html``
  const { data } = await ask(pushApi.list, { query: { limit: 100 } })
  return html`${may(pushApi.create) && (await pushForm(request))}
${box(
  'Browsers with notifications',
  data.length > 0
    ? table(request, 'Browsers with notifications', data, {
        Browser: ({ label, id }) => (label ? text(label) : html`<code>${id}</code>`),
        Events: ({ events }) => text(events.join(', '), 300),
        Since: 'createdAt',
        Action: ({ id }) =>
          operationForm(request, pushApi.delete, {
            params: { id },
            submit: 'Turn off',
            tone: 'against',
          }),
      })
    : html`<p>No browsers yet.</p>`,
)}`
}

const PUSH_EVENTS: readonly string[] = [
  ...urgentEvents,
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
${ownScript(request, 'push')}
<form data-action="push-on" method="dialog">
${rings.map(({ event, description }) => html`<p class="field check"><input id="ring-${event}" type="checkbox" name="events" value="${event}"${urgentEvents.includes(event) && html` checked`}><label for="ring-${event}">${description.replaceAll('`', '')}</label></p>`)}
<p class="field"><label for="ring-label">Browser name</label><input id="ring-label" name="label" maxlength="200" autocomplete="off"></p>
<button type="submit" class="main">Turn on notifications</button>
</form>
<p class="actions apart"><button type="button" data-action="push-test" hidden>Send a test notification</button> <button type="button" data-action="push-off" class="against" hidden>Turn off notifications</button></p>
</section>`
}
